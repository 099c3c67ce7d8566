"""An encoder on one chip of Tenstorrent."""

import ttnn


def layer(x, w, heads, place, kept):
    h = ttnn.layer_norm(x, weight=w.norm1, memory_config=place)
    qkv = ttnn.linear(h, w.qkv, memory_config=place)
    if kept is None:
        ttnn.deallocate(h)
    else:
        kept.append(h)
    q, k, v = ttnn.experimental.nlp_create_qkv_heads(qkv, num_heads=heads, transpose_k_heads=True, memory_config=place)
    ttnn.deallocate(qkv)
    scores = ttnn.matmul(q, k, memory_config=place)
    ttnn.deallocate(q)
    ttnn.deallocate(k)
    weights = ttnn.softmax(scores, dim=-1, memory_config=place)
    ttnn.deallocate(scores)
    context = ttnn.matmul(weights, v, memory_config=place)
    ttnn.deallocate(weights)
    ttnn.deallocate(v)
    joined = ttnn.experimental.nlp_concat_heads(context, memory_config=place)
    ttnn.deallocate(context)
    a = ttnn.linear(joined, w.projection, memory_config=place)
    ttnn.deallocate(joined)
    x = ttnn.add(x, a, memory_config=place)
    ttnn.deallocate(a)
    g = ttnn.layer_norm(x, weight=w.norm2, memory_config=place)
    u = ttnn.linear(g, w.up, activation="gelu", memory_config=place)
    ttnn.deallocate(g)
    d = ttnn.linear(u, w.down, memory_config=place)
    ttnn.deallocate(u)
    x = ttnn.add(x, d, memory_config=place)
    ttnn.deallocate(d)
    return x


def encoder(batch, layers, heads, device, place, kept=None):
    x = ttnn.from_torch(batch, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=place)
    for w in layers:
        x = layer(x, w, heads, place, kept)
    return x
