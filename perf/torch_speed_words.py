"""The models of torch_speed.py that read words, written with torch.nn alone.

Name -> a function from a size to a Network. Sizes: "full" is the measurement's on a GPU; "cpu" has the same widths, with
depth, batch and length cut so that a step takes about a second on two threads; "tiny" tests the program itself.
"""
import functools

import torch
from torch import nn
from torch.nn import functional

from torch_speed_parts import Block, Network, attention, drawn, heads_of


def next_words(logits, targets):
    return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def distance(states, targets):
    """The mean of squared distances; of squares alone it would be constant behind a norm."""
    return functional.mse_loss(states.float(), targets.float())


class GPT2(nn.Module):
    """The head's matrix is the table of embeddings. The result is the logits of all words."""

    def __init__(self, vocabulary, width, heads, layers, length):
        super().__init__()
        self.words, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads, causal=True, gelu="tanh") for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens):
        x = self.words(tokens) + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return functional.linear(self.norm(x), self.words.weight)


def gpt2(size):
    layers, batch, length = {"full": (12, 32, 1024), "cpu": (2, 1, 128), "tiny": (1, 2, 16)}[size]
    vocabulary, width, heads = (211, 64, 4) if size == "tiny" else (50257, 768, 12)
    tokens = torch.randint(0, vocabulary, (2, batch, length))
    return Network(drawn(GPT2(vocabulary, width, heads, layers, length)), (tokens[0],), tokens[1], next_words)


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        wide = x.float()
        return self.weight * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)).to(x.dtype)


def rotated(x, cosines, sines):
    first, second = x.chunk(2, -1)
    return x * cosines + torch.cat((-second, first), -1) * sines


class LlamaLayer(nn.Module):
    """Four heads of queries share one of keys and values."""

    def __init__(self, width, heads, inner):
        super().__init__()
        self.heads, self.groups = heads, heads // 4
        self.norm1, self.norm2 = RMSNorm(width), RMSNorm(width)
        linear = functools.partial(nn.Linear, bias=False)
        self.query, self.key, self.value = linear(width, width), linear(width, width // 4), linear(width, width // 4)
        self.join = linear(width, width)
        self.gate, self.up, self.down = linear(width, inner), linear(width, inner), linear(inner, width)

    def forward(self, x, cosines, sines):
        seen = self.norm1(x)
        query = rotated(heads_of(self.query(seen), self.heads), cosines, sines)
        key = rotated(heads_of(self.key(seen), self.groups), cosines, sines)
        value = heads_of(self.value(seen), self.groups)
        x = x + self.join(attention(query, key, value, is_causal=True, enable_gqa=True))
        seen = self.norm2(x)
        return x + self.down(functional.silu(self.gate(seen)) * self.up(seen))


class Llama(nn.Module):
    """Layers without a vocabulary. The result is the last hidden state."""

    def __init__(self, width, heads, inner, layers, length):
        super().__init__()
        self.layers = nn.ModuleList(LlamaLayer(width, heads, inner) for _ in range(layers))
        self.norm = RMSNorm(width)
        half = width // heads // 2
        angles = torch.outer(torch.arange(length), 500000.0 ** (-torch.arange(half) / half)).repeat(1, 2)
        self.register_buffer("cosines", angles.cos())
        self.register_buffer("sines", angles.sin())

    def forward(self, x):
        for layer in self.layers:
            x = layer(x, self.cosines, self.sines)
        return self.norm(x)


def llama(size):
    layers, batch, length = {"full": (16, 4, 2048), "cpu": (1, 1, 64), "tiny": (2, 2, 16)}[size]
    width, heads, inner = (128, 8, 256) if size == "tiny" else (2048, 32, 8192)
    states = torch.randn(2, batch, length, width)
    return Network(drawn(Llama(width, heads, inner, layers, length)), (states[0],), states[1], distance, autocast=False)


class BERT(nn.Module):
    """Of sequences without gaps. The result is the last hidden state."""

    def __init__(self, vocabulary, width, heads, layers, length):
        super().__init__()
        self.words, self.types = nn.Embedding(vocabulary, width), nn.Embedding(2, width)
        self.positions = nn.Embedding(length, width)
        self.norm = nn.LayerNorm(width, 1e-12)
        self.blocks = nn.ModuleList(Block(width, heads, norm_last=True, epsilon=1e-12) for _ in range(layers))

    def forward(self, tokens, types):
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.norm(self.words(tokens) + self.types(types) + self.positions(positions))
        for block in self.blocks:
            x = block(x)
        return x


def bert(size):
    layers, batch, length = {"full": (24, 32, 512), "cpu": (2, 2, 128), "tiny": (2, 2, 16)}[size]
    vocabulary, width, heads = (211, 64, 4) if size == "tiny" else (30522, 1024, 16)
    tokens = torch.randint(0, vocabulary, (batch, length))
    return Network(drawn(BERT(vocabulary, width, heads, layers, length)), (tokens, tokens % 2),
                   torch.randn(batch, length, width), distance)


class T5Layer(nn.Module):
    """Of an encoder, or of a decoder, which looks at the encoder's result too; no product has a bias."""

    def __init__(self, width, heads, inner, decodes):
        super().__init__()
        linear = functools.partial(nn.Linear, bias=False)
        self.heads, self.norms = heads, nn.ModuleList(RMSNorm(width) for _ in range(2 + decodes))
        self.attentions = nn.ModuleList(nn.ModuleList(linear(width, width) for _ in range(4)) for _ in range(1 + decodes))
        self.up, self.down = linear(width, inner), linear(inner, width)

    def attend(self, number, x, seen, bias):
        query, key, value, join = self.attentions[number]
        scores = heads_of(query(x), self.heads) @ heads_of(key(seen), self.heads).transpose(2, 3)
        if bias is not None:
            scores = scores + bias
        weights = functional.softmax(scores.float(), -1).type_as(scores)
        return join((weights @ heads_of(value(seen), self.heads)).transpose(1, 2).flatten(2))

    def forward(self, x, bias, encoded=None):
        normed = self.norms[0](x)
        x = x + self.attend(0, normed, normed, bias)
        if encoded is not None:
            x = x + self.attend(1, self.norms[1](x), encoded, None)
        return x + self.down(functional.relu(self.up(self.norms[-1](x))))


class Distances(nn.Module):
    """A number a head for each pair of positions, by how far they are apart: far ones share a bucket."""

    def __init__(self, heads, causal, buckets=32, most=128):
        super().__init__()
        self.table, self.causal, self.buckets, self.most = nn.Embedding(buckets, heads), causal, buckets, most

    def forward(self, length, device):
        positions = torch.arange(length, device=device)
        apart, count = positions[None, :] - positions[:, None], self.buckets
        first = torch.zeros_like(apart)
        if self.causal:
            apart = -torch.clamp(apart, max=0)
        else:
            count //= 2
            first, apart = (apart > 0) * count, apart.abs()
        exact = count // 2
        far = torch.log(apart.float() / exact) / torch.log(torch.tensor(self.most / exact)) * (count - exact)
        far = torch.clamp(exact + far.long(), max=count - 1)
        bias = self.table(first + torch.where(apart < exact, apart, far)).permute(2, 0, 1)[None]
        return bias.masked_fill(positions[None, :] > positions[:, None], float("-inf")) if self.causal else bias


class T5(nn.Module):
    """An encoder and a decoder. The result is the logits of all words."""

    def __init__(self, vocabulary, width, heads, layers):
        super().__init__()
        self.width, self.words = width, nn.Embedding(vocabulary, width)
        self.biases = nn.ModuleList(Distances(heads, causal) for causal in (False, True))
        self.encoder, self.decoder = (nn.ModuleList(T5Layer(width, heads, 4 * width, decodes) for _ in range(layers))
                                      for decodes in (False, True))
        self.norms = nn.ModuleList(RMSNorm(width) for _ in range(2))

    def forward(self, tokens, decoded):
        biases = [one(tokens.shape[1], tokens.device) for one in self.biases]
        x = self.words(tokens)
        for layer in self.encoder:
            x = layer(x, biases[0])
        encoded, x = self.norms[0](x), self.words(decoded)
        for layer in self.decoder:
            x = layer(x, biases[1], encoded)
        return functional.linear(self.norms[1](x) * self.width ** -0.5, self.words.weight)


def t5(size):
    layers, batch, length = {"full": (12, 16, 512), "cpu": (1, 1, 128), "tiny": (1, 2, 16)}[size]
    vocabulary, width, heads = (211, 64, 4) if size == "tiny" else (32128, 768, 12)
    tokens = torch.randint(0, vocabulary, (3, batch, length))
    return Network(drawn(T5(vocabulary, width, heads, layers)), (tokens[0], tokens[1]), tokens[2], next_words)
