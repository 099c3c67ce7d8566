"""`python -m tilescope ARGUMENTS` runs the program; `record -- COMMAND` records what a command does."""

import os
import subprocess
import sys


def main() -> int:
    """Runs the program with the arguments of this process, in its place where the system can do that."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["record"]:
        from tilescope._launch import main as record

        return record(arguments[1:])
    from tilescope._program import TilescopeError, program

    try:
        command = [program(), *arguments]
    except TilescopeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if os.name == "posix":
        os.execv(command[0], command)
    return subprocess.call(command)


if __name__ == "__main__":
    sys.exit(main())
