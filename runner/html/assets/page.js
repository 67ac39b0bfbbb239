// Draws the charts of charts.json from the tables in the page, and makes its tables sortable and
// filterable. It selects rows; it computes no figure.
'use strict';

const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};
const text_of = (id) => document.getElementById(id)?.textContent ?? '';
const distinct = (rows, field) => [...new Set(rows.map((row) => row[field]))];
const is_present = (value) => value !== undefined && value !== null && value !== '' && !Number.isNaN(value);

// The fields of each line of a CSV table, in which a quoted one may hold anything.
function split_csv(text) {
  if (!text.includes('"')) return text.split('\n').map((line) => line.split(','));
  const lines = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\n]*))(,|\n|$)/g)) {
    lines.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === '') break;
    if (end === '\n') lines.push([]);
  }
  return lines;
}

function read_table(id, numbers) {
  const text = text_of('data-' + id).trimEnd();
  if (text === '') return [];
  const [names, ...lines] = split_csv(text);
  const is_number = names.map((name) => numbers.includes(name));
  return lines.map((fields) => {
    const row = {};
    fields.forEach((field, i) => { row[names[i]] = !is_number[i] ? field : field === '' ? null : Number(field); });
    return row;
  });
}

// ---- charts ----

// What a reader chooses, shared by all charts that depend on it. `changed` are to be drawn again.
const choices = {};
function choose(name, control, value_of) {
  choices[name] = {value: value_of(), redraw: []};
  control.addEventListener('input', () => {
    choices[name].value = value_of();
    for (const redraw of choices[name].redraw) redraw();
  });
}

function add_choice(name, label, options, first) {
  const select = element('select', {id: 'choose-' + name});
  for (const [value, words] of options) select.append(element('option', {value, textContent: words}));
  if (first !== undefined) select.value = first;
  const control = element('label', {}, label, select);
  control.hidden = options.length < 2;
  choose(name, select, () => select.value);
  return control;
}

function add_choices(tables) {
  const timed = tables.cells.filter((row) => is_present(row.rate));
  const of_problems = distinct(timed, 'problem');
  // At first the largest problem that all results have.
  const results = new Map();
  for (const row of timed) results.set(row.problem, (results.get(row.problem) ?? new Set()).add(row.result));
  const several = distinct(timed, 'result').length > 1;
  const most = Math.max(...[...results.values()].map((of) => of.size));
  const largest = timed.filter((row) => results.get(row.problem).size === most)
    .reduce((a, b) => (b.size > (a?.size ?? 0) ? b : a), undefined);
  const named = (names) => names.map((name) => [name, name]);
  const made = {
    problem: add_choice('problem', 'problem', named(of_problems), largest?.problem),
    sweep: add_choice('sweep', 'of', named(distinct(timed, 'sweep').filter(is_present))),
    map: add_choice('map', 'result', named(distinct(tables.errors, 'map'))),
    space: add_choice('space', 'tuned', named(distinct(tables.space, 'space'))),
    cell: add_choice('cell', 'cell', timed.map((row) => [
      String(row.cell), [row.kernel, row.problem, row.result].slice(0, several ? 3 : 2).join(' · '),
    ]), timed.findLast((row) => row.tone === 'a' && row.fastest)?.cell),
  };
  const every = element('input', {type: 'checkbox', id: 'choose-variants'});
  made.variants = element('label', {}, every, 'every variant');
  made.variants.hidden = timed.every((row) => row.fastest);
  choose('variants', every, () => every.checked);
  return made;
}

function rows_of(chart, tables) {
  return tables[chart.data].filter(
    (row) => chart.needs.every((field) => is_present(row[field])) &&
      Object.entries(chart.where ?? {}).every(([field, value]) => row[field] === value));
}

function chosen_rows(chart, rows) {
  let chosen = rows;
  for (const name of chart.pick ?? []) {
    const value = choices[name].value;
    if (name === 'variants') {
      if (!value) chosen = chosen.filter((row) => row.fastest);
    } else {
      chosen = chosen.filter((row) => String(row[name]) === value);
    }
  }
  // What is drawn first is behind the rest.
  const is_front = (row) => row.tone !== chart.behind;
  return chart.behind ? [...chosen].sort((a, b) => is_front(a) - is_front(b)) : chosen;
}

// A specification with its parts: "$name" stands for what has that name.
const with_parts = (spec, parts) =>
  JSON.parse(JSON.stringify(spec).replace(/"\$(\w+)"/g, (_, name) => JSON.stringify(parts[name])));

// The specification for the room that there is.
function specification(chart, rows, tables, width) {
  const spec = with_parts(chart.spec, {...tables.parts, axis: chart.axis});
  spec.$schema = 'https://vega.github.io/schema/vega-lite/v6.json';
  spec.width = 'container';
  spec.autosize = {type: 'fit-x', contains: 'padding'};
  if (chart.step) spec.height = chart.step[1] * distinct(rows, chart.step[0]).length;
  spec.datasets = {rows, roofs: tables.roofs.filter((row) => rows.some((of) => of.result === row.result))};
  spec.data = {name: 'rows'};
  spec.description = chart.title + '. ' + chart.note;
  spec.config = structuredClone(tables.config);
  spec.config.legend.columns = Math.max(1, Math.floor(width / 150));
  const of_results = {orient: 'bottom', columns: 1, labelLimit: Math.max(80, width - 60)};
  if (chart.names && width < 600) spec.encoding.y.field = chart.names[0];
  const several = distinct(tables.cells, 'result').length > 1;
  for (const part of [spec, ...(spec.layer ?? [])]) {
    const encoding = part.encoding ?? {};
    for (const channel of ['strokeDash', 'shape', 'color'])
      if (encoding[channel]?.field === 'result') encoding[channel].legend = several ? of_results : null;
    if (!several && Array.isArray(encoding.tooltip))
      encoding.tooltip = encoding.tooltip.filter((of) => of.field !== 'result');
    if (chart.sharedX && encoding.x?.scale)
      encoding.x.scale.domainMax = Math.max(...chosen_rows(chart, rows_of(chart, tables)).map((row) => row[chart.sharedX]));
  }
  return spec;
}

// The chart as a file of its own, in the colours that it has now.
async function save_svg(view, name) {
  const style = getComputedStyle(document.documentElement);
  const text = (await view.toSVG()).replace(/var\((--[a-z0-9]+)\)/g, (_, variable) => style.getPropertyValue(variable).trim());
  const link = element('a', {id: 'saved', download: name + '.svg', href: 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(text), hidden: true});
  document.getElementById('saved')?.remove();
  document.body.append(link);
  link.click();
}

function add_figure(page, chart, rows, tables, controls) {
  const plot = element('div', {className: 'plot', id: 'chart-' + chart.name});
  const save = element('button', {type: 'button', className: 'save', textContent: 'SVG', title: 'Save this chart as SVG'});
  const figure = element('figure', {className: chart.room ?? ''}, element('figcaption', {}, save,
    element('strong', {textContent: chart.title}), element('span', {textContent: chart.note})));
  const own = element('div', {className: 'controls'});
  for (const name of chart.pick ?? []) {
    if (!controls[name] || controls[name].hidden || controls[name].isConnected) continue;
    own.append(controls[name]);
  }
  page.append(figure);
  if (own.childElementCount > 0) figure.append(own);
  figure.append(plot);
  const names = chart.names && element('ol', {className: 'names'});
  if (names) figure.append(names);
  let drawn = 0;
  const draw = () => {
    const chosen = chosen_rows(chart, rows);
    if (chosen.length === 0) {
      plot.replaceChildren(element('p', {className: 'item', textContent: 'This result has none.'}));
      return null;
    }
    const number = ++drawn;
    plot.style.minHeight = '';
    if (names) {
      names.hidden = plot.clientWidth >= 600;
      names.replaceChildren(...distinct(chosen, chart.names[1]).map((name) => element('li', {textContent: name})));
    }
    plot.specification = specification(chart, chosen, tables, plot.clientWidth);
    return vegaEmbed(plot, plot.specification, {
      renderer: 'svg', actions: false, tooltip: {theme: 'custom', id: 'vg-tooltip-element'},
    }).then((made) => {
      if (number !== drawn) return made.finalize();
      document.getElementById('vg-tooltip-element')?.classList.add('kzoo');
      save.onclick = () => save_svg(made.view, plot.id);
      return made;
    });
  };
  for (const name of chart.pick ?? []) choices[name].redraw.push(draw);
  draw.plot = plot;
  // The room that it will take.
  plot.style.minHeight = (chart.step ? chart.step[1] * distinct(chosen_rows(chart, rows), chart.step[0]).length : chart.spec.height) + 'px';
  return draw;
}

// A figure of half the width that has none beside it takes all of it.
function widen_lone_figures(page) {
  let alone = null;
  for (const figure of [...page.children, null]) {
    if (figure?.className === 'half') {
      alone = alone ? null : figure;
    } else {
      if (alone) alone.className = '';
      alone = null;
    }
  }
}

// Draws the charts that are in the window or come into it, until those that are there at first are done.
async function draw_seen(rest, draw_one) {
  if (rest.size === 0) return;
  await new Promise((done, fail) => {
    const watch = new IntersectionObserver((changes) => {
      const seen = changes.filter((change) => change.isIntersecting).map((change) => change.target);
      seen.forEach((plot) => watch.unobserve(plot));
      Promise.all(seen.map(draw_one)).then(done, fail);
    });
    for (const plot of rest.keys()) watch.observe(plot);
  });
}

// Labels depend on the width: draw again once it has changed for good.
function redraw_when_resized(page, draws) {
  let width = page.clientWidth, waiting = 0;
  new ResizeObserver(() => {
    if (page.clientWidth === width) return;
    width = page.clientWidth;
    clearTimeout(waiting);
    waiting = setTimeout(() => draws.forEach((draw) => draw()), 150);
  }).observe(page);
}

const idle = () => new Promise((go_on) => (window.requestIdleCallback ?? setTimeout)(go_on));

// The charts that the page has, each with its specification.
function chosen_charts(charts) {
  const seen = {};
  return read_table('charts', []).map((chosen) => {
    const index = seen[chosen.id] = (seen[chosen.id] ?? -1) + 1;
    return {...charts.find((chart) => chart.id === chosen.id), ...chosen, name: chosen.id + (index ? '-' + index : '')};
  });
}

async function draw_charts() {
  const page = document.querySelector('.charts');
  if (!page || typeof vegaEmbed === 'undefined') return;
  const {charts, config, numbers, parts} = JSON.parse(text_of('charts-json'));
  const chosen = chosen_charts(charts);
  const tables = {config, parts};
  for (const name of ['cells', 'agreement', 'roofs', 'errors', 'space']) tables[name] = read_table(name, numbers);
  const controls = add_choices(tables);
  const rest = new Map();  // from plots to what draws them
  const draws = [];
  const add_figures = (those) => {
    for (const chart of those) {
      const rows = rows_of(chart, tables).filter((row) => chart.result === '' || row.result === chart.result);
      const draw = add_figure(page, chart, rows, tables, controls);
      rest.set(draw.plot, draw);
      draws.push(draw);
    }
    widen_lone_figures(page);
  };
  const draw_one = (plot) => {
    const draw = rest.get(plot);
    rest.delete(plot);
    return draw?.();
  };
  // The table of all samples is by far the longest: its charts are the last, and wait.
  const add_samples = () => {
    if (tables.samples) return;
    tables.samples = read_table('samples', numbers);
    add_figures(chosen.filter((chart) => chart.data === 'samples'));
  };
  add_figures(chosen.filter((chart) => chart.data !== 'samples'));
  addEventListener('beforeprint', () => {
    add_samples();
    [...rest.keys()].forEach(draw_one);
  });
  await draw_seen(rest, draw_one);
  document.documentElement.dataset.drawn = String(Math.round(performance.now()));
  await idle();
  add_samples();
  for (const plot of [...rest.keys()]) {
    await idle();
    await draw_one(plot);
  }
  document.documentElement.dataset.complete = String(Math.round(performance.now()));
  redraw_when_resized(page, draws);
}

// ---- tables ----

// What a field is sorted by: its number with the unit taken into account, or its text.
const kUnits = {us: 1e-3, ms: 1, s: 1e3, KiB: 1, MiB: 1024};
function key_of(text) {
  const match = /^[±+−-]?(\d[\d.]*(?:e[+-]?\d+)?)\s*([a-zA-Z]*)/.exec(text);
  if (!match) return text === '=' ? 0 : text;
  const sign = /^[−-]/.test(text) ? -1 : 1;
  return sign * Number(match[1]) * (kUnits[match[2]] ?? 1);
}

function sort_by(table, header, index) {
  const down = header.getAttribute('aria-sort') === 'ascending';
  for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
  header.setAttribute('aria-sort', down ? 'descending' : 'ascending');
  const keyed = [...table.tBodies[0].rows].map((row) => [key_of(row.cells[index].textContent), row]);
  const order = (a, b) => (typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === 'number' ? -1 : 1);
  // Empty fields stay last.
  keyed.sort(([a], [b]) => (a === '') - (b === '') || (down ? order(b, a) : order(a, b)));
  table.tBodies[0].append(...keyed.map(([, row]) => row));
}

function improve_tables() {
  for (const table of document.querySelectorAll('.scroll table')) {
    [...table.tHead.rows[0].cells].forEach((header, index) => {
      const button = element('button', {type: 'button', textContent: header.textContent});
      button.addEventListener('click', () => sort_by(table, header, index));
      header.replaceChildren(button);
    });
    const box = table.parentElement;
    box.tabIndex = 0;  // so that the arrow keys scroll it where it is too wide
    if (table.tBodies[0].rows.length < 8 || !table.closest('[id^="result"]')) continue;
    const input = element('input', {type: 'search', placeholder: 'words that a row holds'});
    input.addEventListener('input', () => {
      const words = input.value.toLowerCase().split(/\s+/);
      for (const row of table.tBodies[0].rows)
        row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
    });
    box.before(element('label', {className: 'filter'}, 'Filter', input));
  }
}

improve_tables();
// On paper nothing can be opened.
addEventListener('beforeprint', () => document.querySelectorAll('details').forEach((part) => { part.open = true; }));
draw_charts().catch((error) => {
  console.error(error);
  document.querySelector('.charts')?.before(element('p', {className: 'missing', textContent: 'The charts cannot be drawn: ' + error.message}));
});
