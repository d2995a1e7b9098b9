# What the commands of README.md speak of: a model with a symbolic size, its outputs, and a folder of models.
sed 's/s77/s27/g' examples/rms_norm.fx >model.fx
twinloom run model.fx --mode strict --outputs data.npz
mkdir models
cp model.fx models/one.fx
cp model.fx models/two.fx
