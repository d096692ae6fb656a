"""The data of a page, decoded as docs/formats.md says."""

import base64
import json
import re

ELEMENT = re.compile(r'(<script type="application/json" id="data">)(.*?)(</script>)', re.DOTALL)


def data_of(page):
    """Returns the data of a page."""
    return json.loads(ELEMENT.search(page)[2])


def with_data(page, data):
    """Returns the page with other data."""
    text = json.dumps(data).replace("<", "\\u003c")
    return ELEMENT.sub(lambda match: match[1] + text + match[3], page)


def numbers(text):
    """Returns the numbers that are 7 bits a byte, lowest first, decoded one by one."""
    values, value, shift = [], 0, 0
    for byte in base64.b64decode(text):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            values.append(value)
            value = shift = 0
    return values


def rows_of_columns(table):
    """Returns the rows of a table that has a list for each column."""
    columns = {name: values for name, values in table.items() if isinstance(values, list)}
    return [dict(zip(columns, row)) for row in zip(*columns.values(), strict=True)]
