"""The models of torch_speed.py that see images, written with torch.nn alone.

Name -> a function from a size to a Network. Sizes: "full" is the measurement's on a GPU; "cpu" has the same widths, with
depth, batch and length cut so that a step takes about a second on two threads; "tiny" tests the program itself.
"""
import functools

import torch
from torch import nn
from torch.nn import functional

from torch_speed_parts import Block, Network, drawn


def of_images(model, batch, pixels):
    """Channels of pixels lie side by side."""
    images = torch.randn(batch, 3, pixels, pixels).to(memory_format=torch.channels_last)
    return Network(model.to(memory_format=torch.channels_last), (images,), torch.randint(0, 1000, (batch,)),
                   functional.cross_entropy)


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
    return Network(drawn(ViT(width, heads, layers, pixels)), (torch.randn(batch, 3, pixels, pixels),),
                   torch.randint(0, 1000, (batch,)), functional.cross_entropy)


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
    """The result is the logits of 1,000 classes."""

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

    def forward(self, images):
        return self.head(self.blocks(self.stem(images)).mean((2, 3)))


def resnet50(size):
    counts, batch, pixels = {"full": ((3, 4, 6, 3), 64, 224), "cpu": ((3, 4, 6, 3), 4, 96), "tiny": ((1, 1), 4, 32)}[size]
    return of_images(ResNet(8 if size == "tiny" else 64, counts), batch, pixels)


class ConvNeXtLayer(nn.Module):
    """A filter a channel, then products over channels, which lie side by side."""

    def __init__(self, width):
        super().__init__()
        self.filters, self.norm = nn.Conv2d(width, width, 7, padding=3, groups=width), nn.LayerNorm(width, 1e-6)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.scale = nn.Parameter(torch.full((width,), 0.1))

    def forward(self, x):
        made = self.norm(self.filters(x).permute(0, 2, 3, 1))
        made = self.scale * self.down(functional.gelu(self.up(made)))
        return x + made.permute(0, 3, 1, 2)


class ChannelNorm(nn.LayerNorm):
    """Of the channels of each pixel."""

    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class ConvNeXt(nn.Module):
    """The result is the logits of 1,000 classes."""

    def __init__(self, width, counts):
        super().__init__()
        layers = [nn.Conv2d(3, width, 4, 4), ChannelNorm(width, 1e-6)]
        for stage, count in enumerate(counts):
            if stage:
                layers += [ChannelNorm(width, 1e-6), nn.Conv2d(width, 2 * width, 2, 2)]
                width *= 2
            layers += [ConvNeXtLayer(width) for _ in range(count)]
        self.layers, self.norm, self.head = nn.Sequential(*layers), nn.LayerNorm(width, 1e-6), nn.Linear(width, 1000)

    def forward(self, images):
        return self.head(self.norm(self.layers(images).mean((2, 3))))


def convnext(size):
    counts, batch, pixels = {"full": ((3, 3, 9, 3), 64, 224), "cpu": ((1, 1, 2, 1), 4, 128), "tiny": ((1, 1), 2, 32)}[size]
    return of_images(ConvNeXt(16 if size == "tiny" else 96, counts), batch, pixels)


class InvertedResidual(nn.Module):
    """Channels are made more, filtered one by one, weighed by what all pixels of them say, and made fewer."""

    def __init__(self, given, kernel, inner, made, weighs, activation, stride):
        super().__init__()
        convolution = functools.partial(nn.Conv2d, bias=False)
        wide = [] if inner == given else [convolution(given, inner, 1), nn.BatchNorm2d(inner), activation()]
        self.wide = nn.Sequential(*wide, convolution(inner, inner, kernel, stride, kernel // 2, groups=inner),
                                  nn.BatchNorm2d(inner))
        self.activation, squeezed = activation(), (inner // 4 + 7) // 8 * 8
        self.weights = None
        if weighs:
            self.weights = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(inner, squeezed, 1), nn.ReLU(),
                                         nn.Conv2d(squeezed, inner, 1), nn.Hardsigmoid())
        self.narrow = nn.Sequential(convolution(inner, made, 1), nn.BatchNorm2d(made))
        self.adds = stride == 1 and given == made

    def forward(self, x):
        made = self.activation(self.wide(x))
        if self.weights is not None:
            made = made * self.weights(made)
        made = self.narrow(made)
        return x + made if self.adds else made


# Kernel, channels inside, channels made, whether it weighs them, activation, stride: MobileNetV3-Large.
RESIDUALS = [(3, 16, 16, False, nn.ReLU, 1), (3, 64, 24, False, nn.ReLU, 2), (3, 72, 24, False, nn.ReLU, 1),
             (5, 72, 40, True, nn.ReLU, 2), (5, 120, 40, True, nn.ReLU, 1), (5, 120, 40, True, nn.ReLU, 1),
             (3, 240, 80, False, nn.Hardswish, 2), (3, 200, 80, False, nn.Hardswish, 1), (3, 184, 80, False, nn.Hardswish, 1),
             (3, 184, 80, False, nn.Hardswish, 1), (3, 480, 112, True, nn.Hardswish, 1), (3, 672, 112, True, nn.Hardswish, 1),
             (5, 672, 160, True, nn.Hardswish, 2), (5, 960, 160, True, nn.Hardswish, 1), (5, 960, 160, True, nn.Hardswish, 1)]


class MobileNet(nn.Module):
    """The result is the logits of 1,000 classes."""

    def __init__(self, residuals):
        super().__init__()
        layers, given = [nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.Hardswish()], 16
        for row in residuals:
            layers.append(InvertedResidual(given, *row))
            given = row[2]
        layers += [nn.Conv2d(given, 6 * given, 1, bias=False), nn.BatchNorm2d(6 * given), nn.Hardswish()]
        self.layers = nn.Sequential(*layers)
        self.head = nn.Sequential(nn.Linear(6 * given, 1280), nn.Hardswish(), nn.Linear(1280, 1000))

    def forward(self, images):
        return self.head(self.layers(images).mean((2, 3)))


def mobilenet(size):
    residuals, batch, pixels = {"full": (RESIDUALS, 128, 224), "cpu": (RESIDUALS, 8, 128), "tiny": (RESIDUALS[:4], 4, 32)}[size]
    return of_images(MobileNet(residuals), batch, pixels)
