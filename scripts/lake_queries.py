#!/usr/bin/env python3
"""Runs the queries of docs/user/lake.md on a lake, in DuckDB or Spark, and prints their answers as JSON.

usage: lake_queries.py LAKE DOCUMENT duckdb|spark

The views of the engine are made first; the queries are run as they stand in the document.
"""

import json
import re
import sys


def blocks(document):
    """The SQL blocks of the document by what their first lines say: `-- query: NAME`, `-- views: ENGINE`."""
    with open(document, encoding="utf-8") as file:
        text = file.read()
    found = {}
    for block in re.findall(r"^```sql\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        title = re.match(r"-- (query|views): (\w+)\n", block)
        if title is None:
            sys.exit(f"a block of {document} has no title:\n{block}")
        # Views of other systems stand apart, for a lake without their runs has no such tables.
        found[title.groups()] = found.get(title.groups(), "") + block
    return found


def plain(value):
    """A cell for JSON; a float as text, which every reader takes for the same number."""
    return repr(value) if isinstance(value, float) else value


def duckdb_engine():
    import duckdb

    connection = duckdb.connect()

    def run(sql):
        answer = connection.execute(sql)
        return [column[0] for column in answer.description], answer.fetchall()

    return run, connection.close


def spark_engine():
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[*]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        # Of so little there is nothing to divide, and the directories are those of one disk.
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.sources.parallelPartitionDiscovery.threshold", "1000000")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")

    def run(sql):
        answer = session.sql(sql)
        return answer.columns, [tuple(row) for row in answer.collect()]

    return run, session.stop


def main():
    if len(sys.argv) != 4 or sys.argv[3] not in ("duckdb", "spark"):
        sys.exit(__doc__)
    lake, document, engine = sys.argv[1:]
    found = blocks(document)
    run, close = duckdb_engine() if engine == "duckdb" else spark_engine()
    views = found[("views", {"duckdb": "DuckDB", "spark": "Spark"}[engine])]
    quoted = lake.replace("'", "''")
    for statement in views.replace("LAKE", quoted).split(";"):
        if statement.strip():
            run(statement)
    answers = {}
    for (kind, name), sql in found.items():
        if kind == "query":
            columns, rows = run(sql)
            answers[name] = [
                {column: plain(cell) for column, cell in zip(columns, row)} for row in rows
            ]
    close()
    print(json.dumps(answers))


main()
