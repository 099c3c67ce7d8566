#!/usr/bin/env python3
"""What a user without Tilescope writes: summary, liveness and categories by tile, with sqlite3 and NumPy.

usage: bench_rival.py PROFILE.pop
"""

import json
import sqlite3
import sys

import numpy as np

BATCH = 1 << 18


def columns(connection, sql, count):
    """All rows of a query as columns of numbers; what is absent is -1."""
    cursor = connection.execute(sql)
    parts = []
    while rows := cursor.fetchmany(BATCH):
        parts.append(np.array(rows, dtype=np.int64))
    return np.concatenate(parts).T if parts else np.zeros((count, 0), dtype=np.int64)


def main(path):
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    tile, total, with_gaps, always = columns(
        connection,
        "SELECT tile, total, total_including_gaps, always_live_bytes FROM memory_by_tile ORDER BY tile",
        4,
    )
    limit = connection.execute("SELECT bytes_per_tile FROM target_info").fetchone()[0]
    step = columns(connection, "SELECT id FROM depth_first_steps ORDER BY id", 1)[0]
    first, change = columns(
        connection,
        "SELECT step_id, delta_bytes FROM memory_not_always_live_by_step_and_ipu WHERE ipu IS NULL",
        2,
    )
    changes = np.zeros(len(step) + 1, dtype=np.int64)
    np.add.at(changes, np.searchsorted(step, first), change)
    curve = np.cumsum(changes)
    of_tile, size, category = columns(
        connection, "SELECT tile, size_bytes, category FROM vars_info WHERE bitset & 1", 3
    )
    categories = int(category.max()) + 1 if category.size else 0
    by_category = np.bincount(
        of_tile * categories + category, weights=size, minlength=len(tile) * categories
    )
    print(
        json.dumps(
            {
                "tiles": len(tile),
                "total_bytes": int(total.sum()),
                "including_gaps_bytes": int(with_gaps.sum()),
                "always_live_bytes": int(always.sum()),
                "tiles_over_limit": int((with_gaps > limit).sum()),
                "fullest_tile": int(tile[with_gaps.argmax()]),
                "peak_not_always_live_bytes": int(curve.max()),
                "by_category_bytes": int(by_category.sum()),
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1])
