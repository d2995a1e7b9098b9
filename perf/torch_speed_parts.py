"""What the models of torch_speed.py share: what a model is here, and layers of several of them, of torch.nn alone."""
import dataclasses
import typing

import torch
from torch import nn
from torch.nn import functional


@dataclasses.dataclass
class Network:
    """A module, and what it is trained for."""

    module: nn.Module
    inputs: tuple
    targets: torch.Tensor
    loss: typing.Callable  # of a result and targets
    autocast: bool = True  # where it is trained in 16 bits, parameters stay f32 and products are of 16 bits


def heads_of(given, count):
    """[batch, length, count * width] as [batch, count, length, width]"""
    return given.view(*given.shape[:2], count, -1).transpose(1, 2)


def attention(query, key, value, **keywords):
    """Of heads; the heads side by side again."""
    return functional.scaled_dot_product_attention(query, key, value, **keywords).transpose(1, 2).flatten(2)


class Block(nn.Module):
    """A layer of GPT-2 or a ViT, where norms come first, or of BERT, where they come last."""

    def __init__(self, width, heads, causal=False, norm_last=False, gelu="none", epsilon=1e-5):
        super().__init__()
        self.heads, self.causal, self.norm_last, self.gelu = heads, causal, norm_last, gelu
        self.norm1, self.norm2 = nn.LayerNorm(width, epsilon), nn.LayerNorm(width, epsilon)
        self.project, self.join = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attend(self, x):
        query, key, value = (heads_of(one, self.heads) for one in self.project(x).chunk(3, -1))
        return self.join(attention(query, key, value, is_causal=self.causal))

    def feed(self, x):
        return self.down(functional.gelu(self.up(x), approximate=self.gelu))

    def forward(self, x):
        if self.norm_last:
            x = self.norm1(x + self.attend(x))
            return self.norm2(x + self.feed(x))
        x = x + self.attend(self.norm1(x))
        return x + self.feed(self.norm2(x))


def drawn(module):
    """Weights of products and tables from a normal distribution, as these models are trained from."""
    for one in module.modules():
        if isinstance(one, (nn.Linear, nn.Embedding)):
            nn.init.normal_(one.weight, std=0.02)
    return module
