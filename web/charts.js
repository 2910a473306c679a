// The page's charts as Vega-Lite, compiled when the page is built (build.mjs): the page carries only Vega's runtime.
// Colours are CSS variables, so light, dark and print need no second drawing. Data arrives under the name "rows".
// `lo` and `hi` are the ends of the value axis; "marks" rows are the selected layer or position.

const INK = 'var(--ink)';
const SERIES = {
  field: 'series', type: 'nominal', legend: null,
  scale: {domain: ['A', 'B', 'layer'], range: ['var(--series-a)', 'var(--series-b)', 'var(--series-c)']},
};

export const config = {
  background: null,
  autosize: {type: 'fit-x', contains: 'padding'},
  padding: 2,
  font: 'system-ui, sans-serif',
  view: {stroke: null},
  axis: {
    labelColor: 'var(--soft)', titleColor: 'var(--soft)', gridColor: 'var(--grid)', domainColor: 'var(--line)',
    tickColor: 'var(--line)', labelFontSize: 11, titleFontSize: 11, titleFontWeight: 'normal', labelPadding: 4,
  },
  axisX: {grid: false},
  axisY: {domain: false, ticks: false},
};

const span = {domainMin: {expr: 'lo'}, domainMax: {expr: 'hi'}, nice: false, zero: false};
const limits = [{name: 'lo', value: 0}, {name: 'hi', value: 1}];
const x = (field, title) => ({
  field, type: 'quantitative', axis: {title, tickMinStep: 1, format: 'd', labelFlush: true},
  scale: {zero: false, nice: false, domainMin: {expr: 'xlo'}, domainMax: {expr: 'xhi'}},
});
const xlimits = [{name: 'xlo', value: 0}, {name: 'xhi', value: 1}];
const selected = field => ({
  data: {name: 'marks'},
  mark: {type: 'rule', color: 'var(--accent)', strokeWidth: 1.5, strokeDash: [4, 3]},
  encoding: {x: {field, type: 'quantitative'}},
});
const y = (field, format = '.3~g') => ({field, type: 'quantitative', scale: span, axis: {title: null, tickCount: 5, format}});

const base = (params, layer, height) => ({width: 400, height, params, layer});

export const charts = {
  // One row a layer and series: {series, layer, p5, p25, median, p75, p95}.
  // `wide` is the opacity of the outer band.
  bands: base([...limits, ...xlimits, {name: 'wide', value: 0.18}], [
    {data: {name: 'rows'}, mark: {type: 'area', opacity: {expr: 'wide'}},
     encoding: {x: x('layer', 'layer'), y: y('p5'), y2: {field: 'p95'}, color: SERIES}},
    {data: {name: 'rows'}, mark: {type: 'area', opacity: 0.32},
     encoding: {x: x('layer', 'layer'), y: y('p25'), y2: {field: 'p75'}, color: SERIES}},
    {data: {name: 'rows'}, mark: {type: 'line', strokeWidth: 2, point: {size: 22, filled: true}},
     encoding: {x: x('layer', 'layer'), y: y('median'), color: SERIES}},
    selected('layer'),
  ], 270),

  // One row a layer, head and series: {series, layer, head, value}; the line is the mean over heads.
  dots: base([...limits, ...xlimits], [
    {data: {name: 'rows'}, mark: {type: 'point', filled: true, size: 26, opacity: 0.55},
     encoding: {x: x('layer', 'layer'), y: y('value'), color: SERIES}},
    {data: {name: 'means'}, mark: {type: 'line', strokeWidth: 2},
     encoding: {x: x('layer', 'layer'), y: y('value'), color: SERIES}},
    selected('layer'),
  ], 270),

  // Hidden states on a logarithmic axis: rows {series, layer, measure, value}, massive {series, layer, value, label}.
  // `decades` are the powers of ten from lo to hi.
  hidden: base([{name: 'lo', value: 0.1}, {name: 'hi', value: 10}, {name: 'decades', value: [0.1, 1, 10]}, ...xlimits], [
    {data: {name: 'rows'}, mark: {type: 'line', strokeWidth: 2},
     encoding: {
       x: x('layer', 'layer'),
       y: {field: 'value', type: 'quantitative', scale: {type: 'log', nice: false, domainMin: {expr: 'lo'}, domainMax: {expr: 'hi'}},
           axis: {title: null, values: {expr: 'decades'}, labelExpr: "format(datum.value, datum.value < 1000 ? '~g' : '~s')"}},
       color: SERIES,
       strokeDash: {field: 'measure', type: 'nominal', legend: null,
                    scale: {domain: ['max_abs', 'block_inf_rms', 'median_abs'], range: [[1, 0], [6, 3], [1.5, 3]]}},
     }},
    {data: {name: 'massive'}, mark: {type: 'point', shape: 'triangle-up', filled: true, size: 70, color: 'var(--warning)'},
     encoding: {x: x('layer', 'layer'), y: {field: 'value', type: 'quantitative'}}},
    selected('layer'),
  ], 190),

  // A value along positions: rows {series, position, value}.
  line: base([...limits, ...xlimits], [
    {data: {name: 'rows'}, mark: {type: 'line', strokeWidth: 1.75, interpolate: 'step'},
     encoding: {x: x('position', 'position in the text'), y: y('value'), color: SERIES}},
    selected('position'),
  ], 150),

  // Distributions side by side: rows {series, measure, min, p5, p25, median, p75, p95, max}.
  boxes: {
    width: 400, height: 170, data: {name: 'rows'},
    encoding: {
      y: {field: 'measure', type: 'nominal', sort: null, axis: {title: null, domain: false, ticks: false, labelLimit: 130, labelColor: INK},
          scale: {paddingInner: 0.35}},
      yOffset: {field: 'series', type: 'nominal', sort: ['A', 'B', 'layer']},
      color: SERIES,
    },
    layer: [
      {mark: {type: 'rule', strokeWidth: 1, opacity: 0.45},
       encoding: {x: {field: 'min', type: 'quantitative', scale: {domain: [0, 1]}, axis: {title: null, grid: true, tickCount: 5, format: '.2~f'}}, x2: {field: 'max'}}},
      {mark: {type: 'rule', strokeWidth: 2.5}, encoding: {x: {field: 'p5', type: 'quantitative'}, x2: {field: 'p95'}}},
      {mark: {type: 'bar', height: {band: 0.8}, opacity: 0.55}, encoding: {x: {field: 'p25', type: 'quantitative'}, x2: {field: 'p75'}}},
      {mark: {type: 'tick', thickness: 3, height: {band: 0.95}, color: INK}, encoding: {x: {field: 'median', type: 'quantitative'}, color: {value: INK}}},
    ],
  },

  // The strongest keys of a head: rows {series, label, weight}.
  bars: {
    width: 400, height: 110, params: [{name: 'hi', value: 1}], data: {name: 'rows'},
    mark: {type: 'bar', cornerRadiusEnd: 2, height: {band: 0.75}},
    encoding: {
      y: {field: 'label', type: 'nominal', sort: null, axis: {title: null, domain: false, ticks: false, labelLimit: 150, labelColor: INK}},
      x: {field: 'weight', type: 'quantitative', scale: {domainMin: 0, domainMax: {expr: 'hi'}, nice: false}, axis: {title: null, grid: true, tickCount: 4, format: '~%'}},
      color: SERIES,
    },
  },
};
