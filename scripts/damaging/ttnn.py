"""Damage to what reports of TT-NN say: operations, buffers and graphs that contradict each other."""

from contextlib import closing

from .tables import NUMBERS, connect, free

CONTRADICTIONS = [
    "UPDATE buffers SET address = 0",
    "UPDATE buffers SET address = -address",
    "UPDATE buffers SET address = 9223372036854775807 - rowid",
    "UPDATE buffers SET max_size_per_bank = 9223372036854775807",
    "UPDATE buffers SET max_size_per_bank = 1099511627776",
    "UPDATE buffers SET max_size_per_bank = rowid",
    "UPDATE buffers SET operation_id = 1",
    "UPDATE buffers SET operation_id = 1000 - operation_id",
    "UPDATE buffers SET operation_id = rowid",
    "UPDATE buffers SET device_id = rowid",
    "UPDATE buffers SET rank = rowid",
    "UPDATE buffers SET buffer_type = rowid % 7",
    "UPDATE operations SET operation_id = 9223372036854775807 - operation_id",
    "UPDATE operations SET operation_id = 1",
    "UPDATE operations SET rank = rowid",
    "UPDATE operations SET duration = -1e300",
    "UPDATE operations SET name = 'ttnn.deallocate'",
    "UPDATE devices SET l1_bank_size = 0",
    "UPDATE devices SET l1_bank_size = 9223372036854775807",
    "UPDATE devices SET address_at_first_l1_cb_buffer = 9223372036854775807",
    "UPDATE devices SET worker_l1_size = 0, l1_num_banks = 0",
    "UPDATE devices SET num_x_compute_cores = 4294967296, num_y_compute_cores = 4294967296",
    "UPDATE tensors SET address = 0",
    "UPDATE tensors SET tensor_id = 1",
    "UPDATE tensors SET buffer_type = 'L1'",
    "UPDATE tensors SET shape = 'Shape([' || replace(hex(zeroblob(50000)), '0', '9,') || '])'",
    "UPDATE input_tensors SET tensor_id = 1",
    "UPDATE input_tensors SET operation_id = -operation_id",
    "UPDATE output_tensors SET tensor_id = rowid",
    "UPDATE buffer_chunks SET core_x = 4294967295, core_y = rowid",
    "UPDATE buffer_chunks SET page_size = 9223372036854775807, num_pages = 9223372036854775807",
    "UPDATE buffer_pages SET page_size = 9223372036854775807",
    "UPDATE captured_graph SET operation_id = 1",
    "UPDATE captured_graph SET operation_id = 1000 - operation_id",
    "UPDATE captured_graph SET captured_graph = (SELECT captured_graph FROM captured_graph LIMIT 1)",
    "UPDATE errors SET operation_id = 1, error_message = replace(error_message, '1', '99999999999999999999')",
    "UPDATE errors SET error_message = replace(error_message, 'e', '{')",
]


def graphs(path, rng):
    """Graphs that are other JSON, or none, or of other numbers."""
    with closing(connect(path)) as database:
        free(database, "captured_graph")
        rows = database.execute("SELECT rowid, captured_graph FROM captured_graph").fetchall()
        for row, text in rng.sample(rows, min(len(rows), rng.choice([1, 5, len(rows)]))):
            database.execute("UPDATE captured_graph SET captured_graph = CAST(? AS TEXT) WHERE rowid = ?", (bad_graph(text, rng), row))


def bad_graph(text, rng):
    number = str(rng.choice(NUMBERS)).encode()
    return rng.choice([
        lambda: b"[" * 100_000,
        lambda: b'[{"params": ' + b"[" * 200 + b"]" * 200 + b"}]",
        lambda: b'[{"params": ' + b'{"a":' * 100_000 + b"}]",
        lambda: b"[" + b"null," * 50_000 + b"null]",
        lambda: b"[" + b"{}," * 50_000 + b"{}]",
        lambda: b'{"graph": ' + text + b"}",
        lambda: text[:rng.randrange(len(text) + 1)],
        lambda: text + text,
        lambda: text.replace(b'"address":', b'"address":-'),
        lambda: text.replace(b'"address":', b'"address":' + number + b',"old":'),
        lambda: text.replace(b'"size":', b'"size":' + number + b',"old":'),
        lambda: text.replace(b'"max_size_per_bank":', b'"max_size_per_bank":' + number + b',"old":'),
        lambda: text.replace(b'"counter":', b'"counter":' + number + b',"old":'),
        lambda: text.replace(b'"connections":[', b'"connections":[' + number + b",").replace(b",]", b"]"),
        lambda: text.replace(b"buffer_deallocate", b"buffer_allocate"),
        lambda: text.replace(b"buffer_allocate", b"buffer_deallocate"),
        lambda: text.replace(b"function_end", b"function_start"),
        lambda: text.replace(b"Tensor::deallocate", b"Tensor::reshape"),
        lambda: text.replace(b"[0-0 - 7-7]", b"[" + number + b"-0 - 7-" + number + b"]"),
        lambda: text.replace(b"[0-0 - 7-7]", b"[0-0 - 7-7], " * 20_000),
        lambda: text.replace(b'"params":{', b'"params":{"address":1e999,'),
        lambda: text.replace(b"null", b"NaN"),
        lambda: text.replace(b"buffer", b"\xff\x1b[2J"),
    ])()
