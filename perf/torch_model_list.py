"""Models of transformers, timm and torchvision, small, built from configurations without weights: name -> a function that
gives a module and a function from (batch, length) to its keyword arguments. Those of a package that is missing are left out."""
import functools

import torch

# Of language models: configuration classes, and what makes them small.
SMALL = {"vocab_size": 128, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128,
         "max_position_embeddings": 128, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
WORDS = {
    "bert": ("BertConfig", "BertForMaskedLM", {}),
    "distilbert": ("DistilBertConfig", "DistilBertForMaskedLM", {"dim": 64, "n_layers": 2, "n_heads": 4, "hidden_dim": 128}),
    "roberta": ("RobertaConfig", "RobertaForMaskedLM", {"pad_token_id": 1}),
    "electra": ("ElectraConfig", "ElectraForMaskedLM", {"embedding_size": 64}),
    "albert": ("AlbertConfig", "AlbertForMaskedLM", {"embedding_size": 32}),
    "mpnet": ("MPNetConfig", "MPNetForMaskedLM", {}),
    "deberta_v2": ("DebertaV2Config", "DebertaV2ForMaskedLM", {"relative_attention": True, "pos_att_type": ["p2c", "c2p"],
                                                              "position_buckets": 16}),
    "xlnet": ("XLNetConfig", "XLNetLMHeadModel", {"d_model": 64, "n_layer": 2, "n_head": 4, "d_inner": 128,
                                                         "max_position_embeddings": None}),
    "gpt2": ("GPT2Config", "GPT2LMHeadModel", {"n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 128}),
    "gpt_neo": ("GPTNeoConfig", "GPTNeoForCausalLM", {"num_layers": 2, "num_heads": 4,
                                                      "attention_types": [[["global", "local"], 1]]}),
    "gpt_neox": ("GPTNeoXConfig", "GPTNeoXForCausalLM", {}),
    "gptj": ("GPTJConfig", "GPTJForCausalLM", {"n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 128, "rotary_dim": 8}),
    "opt": ("OPTConfig", "OPTForCausalLM", {"ffn_dim": 128, "word_embed_proj_dim": 64}),
    "bloom": ("BloomConfig", "BloomForCausalLM", {"n_layer": 2, "n_head": 4}),
    "llama": ("LlamaConfig", "LlamaForCausalLM", {"num_key_value_heads": 2}),
    "mistral": ("MistralConfig", "MistralForCausalLM", {"num_key_value_heads": 2}),
    "qwen2": ("Qwen2Config", "Qwen2ForCausalLM", {"num_key_value_heads": 2}),
    "qwen3": ("Qwen3Config", "Qwen3ForCausalLM", {"num_key_value_heads": 2, "head_dim": 16}),
    "gemma": ("GemmaConfig", "GemmaForCausalLM", {"num_key_value_heads": 2, "head_dim": 16}),
    "phi": ("PhiConfig", "PhiForCausalLM", {}),
    "falcon": ("FalconConfig", "FalconForCausalLM", {}),
    "mixtral": ("MixtralConfig", "MixtralForCausalLM", {"num_key_value_heads": 2, "num_local_experts": 4}),
    "mamba": ("MambaConfig", "MambaForCausalLM", {}),
}
BOTH = {
    "t5": ("T5Config", "T5ForConditionalGeneration", {"d_model": 64, "d_kv": 16, "d_ff": 128, "num_layers": 2, "num_heads": 4}),
    "bart": ("BartConfig", "BartForConditionalGeneration", {
        "d_model": 64, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
        "encoder_ffn_dim": 128, "decoder_ffn_dim": 128}),
}
WITHOUT = {"hidden_size": None, "num_hidden_layers": None, "num_attention_heads": None}
PICTURES = {
    "vit": ("ViTConfig", "ViTForImageClassification", {"image_size": 64}),
    "deit": ("DeiTConfig", "DeiTForImageClassification", {"image_size": 64}),
    "beit": ("BeitConfig", "BeitForImageClassification", {"image_size": 64}),
    "dinov2": ("Dinov2Config", "Dinov2ForImageClassification", {"image_size": 64, "patch_size": 16}),
    "swin": ("SwinConfig", "SwinForImageClassification", {
        **WITHOUT, "image_size": 64, "embed_dim": 16, "depths": [1, 1], "num_heads": [2, 4], "window_size": 4}),
    "convnext": ("ConvNextConfig", "ConvNextForImageClassification", {
        **WITHOUT, "hidden_sizes": [16, 32, 32, 64], "depths": [1, 1, 1, 1]}),
    "segformer": ("SegformerConfig", "SegformerForImageClassification", {
        "hidden_sizes": [16, 32, 32, 64], "num_attention_heads": [1, 2, 2, 4], "depths": [1, 1, 1, 1], "decoder_hidden_size": 32}),
}
TORCHVISION = {"resnet18": 64, "alexnet": 96, "vgg11": 64, "squeezenet1_1": 64, "densenet121": 64, "mobilenet_v2": 64,
               "mobilenet_v3_small": 64, "shufflenet_v2_x0_5": 64, "efficientnet_b0": 64, "mnasnet0_5": 64,
               "regnet_y_400mf": 64, "convnext_tiny": 64, "swin_t": 64}
TIMM = {"resnet10t": 64, "mobilenetv2_035": 64, "efficientnet_lite0": 64, "convnext_atto": 64, "deit_tiny_patch16_224": 224,
        "mixer_s32_224": 224, "poolformer_s12": 64, "mobilevit_xxs": 64, "ghostnet_050": 64, "edgenext_xx_small": 64,
        "nf_resnet26": 64, "lcnet_035": 64}


def _without_dropout(config):
    for name, value in list(vars(config).items()):
        if ("drop" in name and isinstance(value, float)) or name == "use_cache":
            setattr(config, name, type(value)(0))
    return config


def _transformer(kind, model, changes):
    import transformers
    given = {name: value for name, value in {**SMALL, **changes}.items() if value is not None}
    return getattr(transformers, model)(_without_dropout(getattr(transformers, kind)(**given)))


def _words(kind, model, changes):
    def inputs(batch, length):
        return {"input_ids": torch.randint(3, 128, (batch, length))}

    return _transformer(kind, model, changes), inputs


def _both(kind, model, changes):
    def inputs(batch, length):
        words = torch.randint(3, 128, (batch, length))
        return {"input_ids": words, "decoder_input_ids": words.flip(1)}

    return _transformer(kind, model, changes), inputs


def _pictures(build, argument, size):
    return build(), lambda batch, length: {argument: torch.randn(batch, 3, size, size)}


def _torchvision(name, size):
    import torchvision
    return _pictures(getattr(torchvision.models, name), "x", size)


def _timm(name, size):
    import timm
    return _pictures(functools.partial(timm.create_model, name), "x", size)


def _has(package):
    try:
        __import__(package)
        return True
    except ImportError:
        return False


def models():
    """Name -> function without arguments; where sizes of text may change, its name is in WORDS or BOTH."""
    found = {}
    if _has("transformers"):
        found.update({name: functools.partial(_words, *each) for name, each in WORDS.items()})
        found.update({name: functools.partial(_both, *each) for name, each in BOTH.items()})
        found.update({name: functools.partial(_pictures, functools.partial(_transformer, *each), "pixel_values", 64)
                      for name, each in PICTURES.items()})
    if _has("torchvision"):
        found.update({f"torchvision.{name}": functools.partial(_torchvision, name, size) for name, size in TORCHVISION.items()})
    if _has("timm"):
        found.update({f"timm.{name}": functools.partial(_timm, name, size) for name, size in TIMM.items()})
    return found
