"""Draws the arguments of an operator: by its schema, or by a function of its own where that says too little."""

import operators_attention  # noqa: F401
import operators_complex  # noqa: F401
import operators_indexed  # noqa: F401
import operators_layers  # noqa: F401
import operators_moving  # noqa: F401
import operators_norms  # noqa: F401
import operators_plain  # noqa: F401
import operators_pooling  # noqa: F401
import operators_products  # noqa: F401
import operators_sorted  # noqa: F401
from drawing import DRAWN, draw_by_schema, without_underscore


def arguments_of(drawing, row, overload):
    """Positional and keyword arguments."""
    name = row if row.startswith("prims.") else without_underscore(overload._schema.name.split("::")[1])
    drawing.operator, drawing.overload, drawing.schema = name, overload._overloadname, overload._schema
    special = DRAWN.get(f"{name}.{overload._overloadname}") or DRAWN.get(name)
    if special is None:
        return draw_by_schema(drawing, overload._schema)
    made = special(drawing)
    return made if isinstance(made, tuple) else (made, {})
