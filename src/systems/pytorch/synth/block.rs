//! One block of the transformer: the tensors of its forward pass, which of them the backward pass needs, and the
//! gradients, in the order in which PyTorch makes and drops them.

use super::caching_allocator::{Handle, Refused};
use super::frames::{Call, CallPath, CallStack, line};
use super::training::Training;

/// What the backward pass of a block needs, beside its input.
pub(super) struct SavedTensors {
    /// Result, mean and deviation.
    norm_1: [Handle; 3],
    qkv: Handle,
    softmax: Handle,
    attended: Handle,
    sum: Handle,
    norm_2: [Handle; 3],
    up: Handle,
    gelu: Handle,
}

impl SavedTensors {
    /// Where a block's input goes, once the next one has its own.
    pub(super) fn between(path: CallPath) -> CallStack {
        CallStack { call: Call::Operator, line: line::FEED_FORWARD, path }
    }
}

impl Training<'_> {
    fn norm(&mut self, stack: CallStack) -> Result<[Handle; 3], Refused> {
        let result = self.tensor(self.net.hidden_bytes(), stack)?;
        let mean = self.tensor(self.net.norm_bytes(), stack)?;
        let deviation = self.tensor(self.net.norm_bytes(), stack)?;
        Ok([result, mean, deviation])
    }

    /// The result of a block, and what is kept of it if anything shall be.
    pub(super) fn forward_block(
        &mut self,
        path: CallPath,
        is_kept: bool,
    ) -> Result<(Handle, Option<Box<SavedTensors>>), Refused> {
        let at = |call, line| CallStack { call, line, path };
        let hidden = self.net.hidden_bytes();
        let scores_bytes = self.net.scores_bytes();
        let gone = |this: &mut Self, handles: &[Handle], line| {
            if !is_kept {
                for handle in handles {
                    this.free(*handle, at(Call::Operator, line));
                }
            }
        };
        let norm_1 = self.norm(at(Call::LayerNorm, line::NORM_1))?;
        let qkv = self.tensor(3 * hidden, at(Call::Linear, line::QKV))?;
        gone(self, &norm_1, line::QKV);
        let keys = self.tensor(hidden, at(Call::Operator, line::SCORES))?;
        let products = self.tensor(scores_bytes, at(Call::Operator, line::SCORES))?;
        self.free(keys, at(Call::Operator, line::SCORES));
        let scores = self.tensor(scores_bytes, at(Call::Operator, line::SCORES))?;
        self.free(products, at(Call::Operator, line::SCORES));
        let softmax = self.tensor(scores_bytes, at(Call::Operator, line::SCORES))?;
        self.free(scores, at(Call::Operator, line::SCORES));
        let by_head = self.tensor(hidden, at(Call::Operator, line::ATTENDED))?;
        gone(self, &[softmax, qkv], line::ATTENDED);
        let attended = self.tensor(hidden, at(Call::Operator, line::ATTENDED))?;
        self.free(by_head, at(Call::Operator, line::ATTENDED));
        let projected = self.tensor(hidden, at(Call::Linear, line::ATTENDED))?;
        gone(self, &[attended], line::ATTENDED);
        let sum = self.tensor(hidden, at(Call::Operator, line::ATTENDED))?;
        self.free(projected, at(Call::Operator, line::ATTENDED));
        let norm_2 = self.norm(at(Call::LayerNorm, line::FEED_FORWARD))?;
        let up = self.tensor(4 * hidden, at(Call::Linear, line::FEED_FORWARD))?;
        gone(self, &norm_2, line::FEED_FORWARD);
        let gelu = self.tensor(4 * hidden, at(Call::Gelu, line::FEED_FORWARD))?;
        gone(self, &[up], line::FEED_FORWARD);
        let down = self.tensor(hidden, at(Call::Linear, line::FEED_FORWARD))?;
        gone(self, &[gelu], line::FEED_FORWARD);
        let output = self.tensor(hidden, at(Call::Operator, line::FEED_FORWARD))?;
        self.free(down, at(Call::Operator, line::FEED_FORWARD));
        gone(self, &[sum], line::FEED_FORWARD);
        let saved = SavedTensors { norm_1, qkv, softmax, attended, sum, norm_2, up, gelu };
        Ok((output, is_kept.then(|| Box::new(saved))))
    }

    /// The gradient of a block's input, from that of its result; both the result's and all that was saved go.
    pub(super) fn backward_block(
        &mut self,
        block: u64,
        saved: &SavedTensors,
        gradient: Handle,
    ) -> Result<Handle, Refused> {
        let hidden = self.net.hidden_bytes();
        let scores_bytes = self.net.scores_bytes();
        // The sum with the input passes the gradient on to both.
        let of_gelu = self.backward_tensor(4 * hidden)?;
        self.gradients_of_block(block, 10..12)?;
        self.drop_all(&[saved.gelu]);
        let of_up = self.backward_tensor(4 * hidden)?;
        self.drop_all(&[of_gelu, saved.up]);
        let of_norm = self.backward_tensor(hidden)?;
        self.gradients_of_block(block, 8..10)?;
        self.drop_all(&[of_up, saved.norm_2[0]]);
        let gradient = self.backward_norm(block, 6, gradient, of_norm)?;
        self.drop_all(&[saved.norm_2[1], saved.norm_2[2], saved.sum]);

        let of_attended = self.backward_tensor(hidden)?;
        self.gradients_of_block(block, 4..6)?;
        self.drop_all(&[saved.attended]);
        let by_head = self.backward_tensor(hidden)?;
        self.drop_all(&[of_attended]);
        let of_softmax = self.backward_tensor(scores_bytes)?;
        let of_values = self.backward_tensor(hidden)?;
        self.drop_all(&[by_head]);
        let of_scores = self.backward_tensor(scores_bytes)?;
        self.drop_all(&[of_softmax, saved.softmax]);
        let of_products = self.backward_tensor(scores_bytes)?;
        self.drop_all(&[of_scores]);
        let of_queries = self.backward_tensor(hidden)?;
        let of_keys = self.backward_tensor(hidden)?;
        self.drop_all(&[of_products]);
        let of_qkv = self.backward_tensor(3 * hidden)?;
        self.drop_all(&[of_queries, of_keys, of_values, saved.qkv]);
        let of_norm = self.backward_tensor(hidden)?;
        self.gradients_of_block(block, 2..4)?;
        self.drop_all(&[of_qkv, saved.norm_1[0]]);
        let gradient = self.backward_norm(block, 0, gradient, of_norm)?;
        self.drop_all(&[saved.norm_1[1], saved.norm_1[2]]);
        Ok(gradient)
    }

    /// Through a norm, and added to the gradient that went past it.
    fn backward_norm(
        &mut self,
        block: u64,
        parameters: usize,
        past: Handle,
        of_norm: Handle,
    ) -> Result<Handle, Refused> {
        let hidden = self.net.hidden_bytes();
        let through = self.backward_tensor(hidden)?;
        self.gradients_of_block(block, parameters..parameters + 2)?;
        self.drop_all(&[of_norm]);
        let both = self.backward_tensor(hidden)?;
        self.drop_all(&[through, past]);
        Ok(both)
    }

    fn drop_all(&mut self, handles: &[Handle]) {
        for handle in handles {
            self.free(*handle, CallStack::NONE);
        }
    }
}
