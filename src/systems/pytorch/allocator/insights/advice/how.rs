//! The spelling of techniques in Python or as a setting of a run (docs/user/advice.md, Techniques for PyTorch on a
//! GPU).

use super::SnapshotTechnique;

/// How a technique is written, where gradients are computed and where they are not.
pub fn how(technique: SnapshotTechnique, records_graph: bool) -> &'static str {
    match technique {
        SnapshotTechnique::Autocast if !records_graph => {
            "with torch.autocast(\"cuda\", dtype=torch.bfloat16):\n    output = model(batch)"
        }
        SnapshotTechnique::FewerSamples if !records_graph => {
            "outputs = [model(part) for part in batch.chunk(parts)]"
        }
        SnapshotTechnique::DropReferences => {
            "total_loss += loss.item()        # a number; a tensor keeps its whole graph\n\
             history.append(output.detach().cpu())"
        }
        SnapshotTechnique::ExpandableSegments => {
            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python train.py\n\
             # PyTorch 2.9 calls the name old, but reads no other for this; later ones read PYTORCH_ALLOC_CONF too.\n\
             # On ROCm: PYTORCH_HIP_ALLOC_CONF"
        }
        SnapshotTechnique::SetGradientsToNone => "optimizer.zero_grad(set_to_none=True)",
        SnapshotTechnique::NoGradientsNeeded => {
            "with torch.inference_mode():     # or torch.no_grad()\n    output = model(batch)"
        }
        SnapshotTechnique::FusedOptimizer => {
            "optimizer = torch.optim.AdamW(model.parameters(), lr=lr, fused=True)  # or foreach=False"
        }
        SnapshotTechnique::LimitSplitting => {
            "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128 python train.py"
        }
        SnapshotTechnique::CheckpointActivations => {
            "from torch.utils.checkpoint import checkpoint, checkpoint_sequential\n\
             for block in self.blocks:\n    x = checkpoint(block, x, use_reentrant=False)\n\
             # of an nn.Sequential: checkpoint_sequential(layers, segments, x, use_reentrant=False)\n\
             # transformers: model.gradient_checkpointing_enable()"
        }
        SnapshotTechnique::Autocast => {
            "with torch.autocast(\"cuda\", dtype=torch.bfloat16):\n    loss = loss_of(model(batch), target)"
        }
        SnapshotTechnique::FewerSamples => {
            "for part in batch.chunk(parts):\n    (loss_of(model(part)) / parts).backward()\n\
             optimizer.step()\noptimizer.zero_grad(set_to_none=True)"
        }
        SnapshotTechnique::StepInBackward => {
            "optimizers = {p: torch.optim.AdamW([p], lr=lr) for p in model.parameters()}\n\
             def step(p):\n    optimizers[p].step()\n    optimizers[p].zero_grad(set_to_none=True)\n\
             for p in model.parameters():\n    p.register_post_accumulate_grad_hook(step)"
        }
        SnapshotTechnique::SmallerOptimizerState => {
            "optimizer = bitsandbytes.optim.AdamW8bit(model.parameters(), lr=lr)\n\
             # on several devices: torch.distributed.optim.ZeroRedundancyOptimizer(\n\
             #     model.parameters(), optimizer_class=torch.optim.AdamW, lr=lr), or FSDP"
        }
        SnapshotTechnique::Sdpa => {
            "out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=p, is_causal=causal)\n\
             # transformers: AutoModel.from_pretrained(name, attn_implementation=\"sdpa\")"
        }
        SnapshotTechnique::ChunkedLoss => {
            "def part(hidden, target):\n    return F.cross_entropy(head(hidden), target, reduction=\"sum\")\n\
             parts = zip(hidden.chunk(8), target.chunk(8))   # (tokens, width), (tokens)\n\
             loss = sum(checkpoint(part, h, t, use_reentrant=False) for h, t in parts) / len(target)"
        }
        SnapshotTechnique::CacheOff => {
            "with torch.autocast(\"cuda\", dtype=torch.bfloat16, cache_enabled=False):\n    output = model(batch)"
        }
        SnapshotTechnique::HalfWeights => "model = model.to(torch.bfloat16)",
        SnapshotTechnique::OffloadActivations => {
            "with torch.autograd.graph.save_on_cpu(pin_memory=True):\n    loss = loss_of(model(batch), target)"
        }
        SnapshotTechnique::FullyShard => {
            "from torch.distributed.fsdp import fully_shard\n\
             for block in model.blocks:\n    fully_shard(block)\nfully_shard(model)"
        }
        SnapshotTechnique::Lora => {
            "from peft import LoraConfig, get_peft_model\n\
             model = get_peft_model(model, LoraConfig(r=16, target_modules=\"all-linear\"))"
        }
        SnapshotTechnique::EmptyCache => "",
    }
}
