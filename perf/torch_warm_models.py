"""The models of torch_warm.py: name -> a module, its inputs and keywords. Small, of real depths."""
import functools

import torch


class Plain(torch.nn.Module):
    """Has a forward() of its own: PyTorch 2.11 does not find a kept frame's globals where a decorator made the function."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *inputs, **keywords):
        result = self.model(*inputs, **keywords)
        return result if isinstance(result, torch.Tensor) else result[0]


def resnet50():
    import torchvision
    model = torchvision.models.resnet50()
    images = torch.randn(2, 3, 64, 64)
    return model.train(), (images,), {}


def gpt2(layers):
    import transformers
    config = transformers.GPT2Config(n_layer=layers, n_embd=128, n_head=4, vocab_size=1000, n_positions=64, use_cache=False)
    return transformers.GPT2LMHeadModel(config).train(), (), {"input_ids": torch.randint(0, 1000, (2, 32))}


def bert():
    import transformers
    config = transformers.BertConfig(hidden_size=128, num_hidden_layers=12, num_attention_heads=4, intermediate_size=256,
                                     vocab_size=1000)
    return transformers.BertModel(config).eval(), (), {"input_ids": torch.randint(0, 1000, (2, 32))}


MODELS = {"resnet50": resnet50, "gpt2": functools.partial(gpt2, layers=2), "gpt2-12": functools.partial(gpt2, layers=12),
          "bert": bert}
