"""`python -m tilescope ARGUMENTS` runs the program."""

import os
import subprocess
import sys


def main() -> int:
    """Runs the program with the arguments of this process, in its place where the system can do that."""
    from tilescope._program import TilescopeError, program

    try:
        command = [program(), *sys.argv[1:]]
    except TilescopeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if os.name == "posix":
        os.execv(command[0], command)
    return subprocess.call(command)


if __name__ == "__main__":
    sys.exit(main())
