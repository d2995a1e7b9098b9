"""The models of torch_speed.py, written with torch.nn alone: name -> a function from a size to a Subject.

Sizes: "full" is the measurement's on a GPU; "cpu" has the same widths, with depth, batch and length cut so that a step takes
about a second on two threads; "tiny" tests the program itself. Weights are drawn from the seed that is set.
"""
import dataclasses
import functools

import torch
from torch import nn
from torch.nn import functional


@dataclasses.dataclass
class Subject:
    """A module whose result is the loss where it is trained, with its inputs."""

    module: nn.Module
    inputs: tuple
    training: bool
    autocast: bool = False  # parameters stay f32, products are of 16 bits


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


class GPT2(nn.Module):
    """The head's matrix is the table of embeddings. The result is the loss."""

    def __init__(self, vocabulary, width, heads, layers, length):
        super().__init__()
        self.words, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads, causal=True, gelu="tanh") for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens, targets):
        x = self.words(tokens) + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        logits = functional.linear(self.norm(x), self.words.weight)
        return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def gpt2(size):
    layers, batch, length = {"full": (12, 32, 1024), "cpu": (2, 1, 128), "tiny": (1, 2, 16)}[size]
    vocabulary, width, heads = (211, 64, 4) if size == "tiny" else (50257, 768, 12)
    tokens = torch.randint(0, vocabulary, (2, batch, length))
    return Subject(drawn(GPT2(vocabulary, width, heads, layers, length)), (tokens[0], tokens[1]), True, autocast=True)


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
    """Layers without a vocabulary. The result is the mean of squared distances; of squares alone it would be constant."""

    def __init__(self, width, heads, inner, layers, length):
        super().__init__()
        self.layers = nn.ModuleList(LlamaLayer(width, heads, inner) for _ in range(layers))
        self.norm = RMSNorm(width)
        half = width // heads // 2
        angles = torch.outer(torch.arange(length), 500000.0 ** (-torch.arange(half) / half)).repeat(1, 2)
        self.register_buffer("cosines", angles.cos())
        self.register_buffer("sines", angles.sin())

    def forward(self, x, targets):
        for layer in self.layers:
            x = layer(x, self.cosines, self.sines)
        return functional.mse_loss(self.norm(x).float(), targets.float())


def llama(size):
    layers, batch, length = {"full": (16, 4, 2048), "cpu": (1, 1, 64), "tiny": (2, 2, 16)}[size]
    width, heads, inner = (128, 8, 256) if size == "tiny" else (2048, 32, 8192)
    states = torch.randn(2, batch, length, width)
    return Subject(drawn(Llama(width, heads, inner, layers, length)), (states[0], states[1]), True)


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
    return Subject(drawn(BERT(vocabulary, width, heads, layers, length)), (tokens, tokens % 2), False)


class ViT(nn.Module):
    """The result is the logits of 1,000 classes."""

    def __init__(self, width, heads, layers, pixels):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 16, 16)
        self.token = nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.positions = nn.Parameter(torch.randn(1, (pixels // 16) ** 2 + 1, width) * 0.02)
        self.blocks = nn.ModuleList(Block(width, heads, epsilon=1e-6) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width, 1e-6), nn.Linear(width, 1000)

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(x.shape[0], -1, -1), x), 1) + self.positions
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, 0])


def vit(size):
    layers, batch, pixels = {"full": (24, 32, 224), "cpu": (2, 2, 224), "tiny": (2, 2, 32)}[size]
    width, heads = (64, 4) if size == "tiny" else (1024, 16)
    return Subject(drawn(ViT(width, heads, layers, pixels)), (torch.randn(batch, 3, pixels, pixels),), False)


class Bottleneck(nn.Module):
    """Branches start small: where they do not, gradients of the first layers consist of what later ones round."""

    def __init__(self, given, inner, stride):
        super().__init__()
        convolution = functools.partial(nn.Conv2d, bias=False)
        self.convolutions = nn.ModuleList([convolution(given, inner, 1), convolution(inner, inner, 3, stride, 1),
                                           convolution(inner, 4 * inner, 1)])
        self.norms = nn.ModuleList(nn.BatchNorm2d(channels) for channels in (inner, inner, 4 * inner))
        nn.init.constant_(self.norms[2].weight, 0.2)
        self.shortcut = None
        if stride > 1 or given != 4 * inner:
            self.shortcut = nn.Sequential(convolution(given, 4 * inner, 1, stride), nn.BatchNorm2d(4 * inner))

    def forward(self, x):
        kept = x if self.shortcut is None else self.shortcut(x)
        for convolution, norm in zip(self.convolutions[:2], self.norms[:2]):
            x = functional.relu(norm(convolution(x)), inplace=True)
        return functional.relu(self.norms[2](self.convolutions[2](x)) + kept, inplace=True)


class ResNet(nn.Module):
    """The result is the loss."""

    def __init__(self, width, counts):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
                                  nn.MaxPool2d(3, 2, 1))
        blocks, given = [], width
        for stage, count in enumerate(counts):
            inner = width << stage
            for number in range(count):
                blocks.append(Bottleneck(given, inner, 2 if stage and number == 0 else 1))
                given = 4 * inner
        self.blocks, self.head = nn.Sequential(*blocks), nn.Linear(given, 1000)

    def forward(self, images, targets):
        x = self.blocks(self.stem(images)).mean((2, 3))
        return functional.cross_entropy(self.head(x), targets)


def resnet50(size):
    counts, batch, pixels = {"full": ((3, 4, 6, 3), 64, 224), "cpu": ((3, 4, 6, 3), 4, 96), "tiny": ((1, 1), 4, 32)}[size]
    model = ResNet(8 if size == "tiny" else 64, counts).to(memory_format=torch.channels_last)
    images = torch.randn(batch, 3, pixels, pixels).to(memory_format=torch.channels_last)
    return Subject(model, (images, torch.randint(0, 1000, (batch,))), True, autocast=True)


MODELS = {"gpt2": gpt2, "llama": llama, "bert": bert, "vit": vit, "resnet50": resnet50}


def made(name, size, device, bf16):
    """A Subject on a device, in bf16 or by autocast where `bf16`, else in f32."""
    torch.manual_seed(0)
    with torch.device(device):
        subject = MODELS[name](size)
    subject.module.train(subject.training)
    subject.autocast = subject.autocast and bf16
    if bf16 and not subject.autocast:
        subject.module.to(torch.bfloat16)
        subject.inputs = tuple(one.bfloat16() if one.is_floating_point() else one for one in subject.inputs)
    return subject
