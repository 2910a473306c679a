"""What exact theta shows and the greedy certificate hides, from a result of `softscope inspect --json`.

    softscope inspect MODEL --text FILE --json result.json && python3 certificate.py result.json
"""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    result = json.load(file)
heads = [(layer["index"], head["index"], head) for layer in result["layers"] for head in layer["heads"]
         if head["theta"]["count"]]
rows = sum(head["theta"]["count"] for _, _, head in heads)
proved = sum(head["theta"]["count"] * head["theta_exact_share"] for _, _, head in heads)


def count(measure, statistic, test):
    return sum(test(head[measure][statistic]) for _, _, head in heads)


print(f"{result['model']['name']}: {len(heads)} heads, {rows} rows, {rows - round(proved)} not proved exact")
for label, test in (("= 1 (to 1e-9)", lambda theta: theta > 1 - 1e-9), ("< 0.995", lambda theta: theta < 0.995)):
    print(f"heads whose median is {label}: theta {count('theta', 'median', test)}, "
          f"certificate {count('theta_cert', 'median', test)}")
for statistic in ("median", "p5"):
    layer, index, head = max(heads, key=lambda entry: entry[2]["theta"][statistic] - entry[2]["theta_cert"][statistic])
    print(f"largest gap of the {statistic}: layer {layer} head {index}, theta {head['theta'][statistic]:.4f}, "
          f"certificate {head['theta_cert'][statistic]:.4f}")
low = [head for _, _, head in heads if head["theta"]["median"] < 0.995]
print(f"of the {len(low)} heads with a median theta below 0.995, "
      f"{sum(head['p_max']['median'] >= 0.5 for head in low)} have a median p_max of 1/2 or more")
