"""The models of torch_speed.py, trained or not, on a device, in a precision. Weights are drawn from the seed that is set."""
import dataclasses

import torch
import torch_speed_images as images
import torch_speed_words as words
from torch import nn


@dataclasses.dataclass
class Subject:
    """What is measured: a module whose result is the loss where it is trained, with its inputs."""

    module: nn.Module
    inputs: tuple
    training: bool
    autocast: bool


class Trained(nn.Module):
    """Of inputs, the last of which are the targets, the loss."""

    def __init__(self, module, loss):
        super().__init__()
        self.module, self.loss = module, loss

    def forward(self, *inputs):
        return self.loss(self.module(*inputs[:-1]), inputs[-1])


MODELS = {"gpt2": words.gpt2, "llama": words.llama, "bert": words.bert, "vit": images.vit, "resnet50": images.resnet50,
          "t5": words.t5, "convnext": images.convnext, "mobilenet": images.mobilenet}


def made(name, training, size, device, bf16):
    """A Subject on a device, in bf16 or by autocast where `bf16`, else in f32."""
    torch.manual_seed(0)
    with torch.device(device):
        network = MODELS[name](size)
    module, inputs, autocast = network.module, network.inputs, bf16 and training and network.autocast
    if training:
        module, inputs = Trained(module, network.loss), (*inputs, network.targets)
    module.train(training)
    if bf16 and not autocast:
        module.to(torch.bfloat16)
        inputs = tuple(one.bfloat16() if one.is_floating_point() else one for one in inputs)
    return Subject(module, inputs, training, autocast)
