// Draws the charts that the page has as data (html/charts.cpp), and makes its tables sortable and
// filterable.
'use strict';

const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};
const distinct = (rows, field) => [...new Set(rows.map((row) => row[field]))];

// ---- charts ----

// What a reader chooses, shared by all charts that depend on it. `redraw` are to be drawn again.
const choices = {};
function choose(name, control, value_of) {
  choices[name] = {value: value_of(), redraw: []};
  control.addEventListener('input', () => {
    choices[name].value = value_of();
    for (const redraw of choices[name].redraw) redraw();
  });
}

function add_choice(name, label, options, words, first) {
  const select = element('select', {id: 'choose-' + name});
  options.forEach((value, i) => select.append(element('option', {value, textContent: words[i]})));
  if (first !== null) select.value = first;
  choose(name, select, () => select.value);
  return element('label', {hidden: options.length < 2}, label, select);
}

// The controls, with what is chosen at first.
function add_choices(first, read) {
  const every = element('input', {type: 'checkbox', id: 'choose-variants'});
  choose('variants', every, () => every.checked);
  const hidden = read.cells.every((row) => row.fastest || row.rate === null);
  const made = {variants: element('label', {hidden}, every, 'every variant')};
  const timed = read.cells.filter((row) => row.rate !== null);
  for (const [name, label, rows] of [['problem', 'problem', timed], ['sweep', 'of', timed], ['map', 'result', read.errors], ['space', 'tuned', read.space]]) {
    const options = distinct(rows, name).filter((value) => value !== '');
    made[name] = add_choice(name, label, options, options, first[name]);
  }
  const several = distinct(read.cells, 'result').length > 1;
  const words = timed.map((row) => [row.kernel, row.problem, ...(several ? [row.result] : [])].join(' · '));
  made.cell = add_choice('cell', 'cell', timed.map((row) => String(row.cell)), words, first.cell);
  return made;
}

const chosen_rows = (chart) => chart.shown.filter((row) => chart.pick.every((name) =>
  name === 'variants' ? choices.variants.value || row.fastest : String(row[name]) === choices[name].value));

const height_of = (chart, rows) =>
  chart.step ? chart.step[1] * distinct(rows, chart.step[0]).length : chart.spec.height;

// The specification for the room that there is.
function specification(chart, rows, width) {
  const spec = structuredClone(chart.spec);
  spec.datasets.rows = rows;
  spec.height = height_of(chart, rows);
  spec.config.legend.columns = Math.max(1, Math.floor(width / 150));
  spec.config.legend.labelLimit = Math.max(80, width - 60);
  if (chart.id === 'agreement' && width < 600) spec.encoding.y.field = 'row';
  if (chart.id === 'speed') {
    const all = chosen_rows({...chart, shown: chart.table});  // of all results
    spec.layer[0].encoding.x.scale.domainMax = Math.max(...all.map((row) => row.bar_high));
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

function add_figure(page, chart, controls) {
  const plot = element('div', {className: 'plot', id: 'chart-' + chart.name});
  const save = element('button', {type: 'button', className: 'save', textContent: 'SVG', title: 'Save this chart as SVG'});
  const figure = element('figure', {className: chart.room}, element('figcaption', {}, save,
    element('strong', {textContent: chart.title}), element('span', {textContent: chart.note})));
  const own = chart.pick.map((name) => controls[name]).filter((control) => !control.hidden && !control.isConnected);
  page.append(figure);
  if (own.length > 0) figure.append(element('div', {className: 'controls'}, ...own));
  figure.append(plot);
  const names = chart.id === 'agreement' && element('ol', {className: 'names'});
  if (names) figure.append(names);
  let drawn = 0;
  const draw = () => {
    const rows = chosen_rows(chart);
    if (rows.length === 0) {
      plot.replaceChildren(element('p', {className: 'item', textContent: 'This result has none.'}));
      return null;
    }
    const number = ++drawn;
    plot.style.minHeight = '';
    if (names) {
      names.hidden = plot.clientWidth >= 600;
      names.replaceChildren(...distinct(rows, 'kernel').map((name) => element('li', {textContent: name})));
    }
    plot.specification = specification(chart, rows, plot.clientWidth);
    return vegaEmbed(plot, plot.specification, {
      renderer: 'svg', actions: false, tooltip: {theme: 'custom', id: 'vg-tooltip-element'},
    }).then((made) => {
      if (number !== drawn) return made.finalize();
      document.getElementById('vg-tooltip-element')?.classList.add('kzoo');
      save.onclick = () => save_svg(made.view, plot.id);
      return made;
    });
  };
  for (const name of chart.pick) choices[name].redraw.push(draw);
  draw.plot = plot;
  plot.style.minHeight = height_of(chart, chosen_rows(chart)) + 'px';  // the room that it will take
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

async function draw_charts() {
  const page = document.querySelector('.charts');
  if (!page || typeof vegaEmbed === 'undefined') return;
  const {charts, first, tables} = JSON.parse(document.getElementById('chart-data').textContent);
  const read_table = ({names, rows}) =>
    rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]])));
  const read = {};
  for (const name of ['cells', 'errors', 'space']) read[name] = read_table(tables[name]);
  const controls = add_choices(first, read);
  const rest = new Map();  // from plots to what draws them
  const draws = [];
  const add_figures = (added) => {
    for (const chart of added) {
      chart.table = read[chart.data] ??= read_table(tables[chart.data]);
      chart.shown = chart.rows?.map((i) => chart.table[i]) ?? chart.table;
      const draw = add_figure(page, chart, controls);
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
    if (!read.samples) add_figures(charts.filter((chart) => chart.data === 'samples'));
  };
  add_figures(charts.filter((chart) => chart.data !== 'samples'));
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

// Whether a table goes on to the right of what is seen.
const mark_more = (box) => box.classList.toggle('more', box.scrollLeft + box.clientWidth < box.scrollWidth - 1);

function improve_tables() {
  const sizes = new ResizeObserver((changes) => changes.forEach((change) => mark_more(change.target)));
  for (const table of document.querySelectorAll('.scroll table')) {
    [...table.tHead.rows[0].cells].forEach((header, index) => {
      const button = element('button', {type: 'button', textContent: header.textContent});
      button.addEventListener('click', () => sort_by(table, header, index));
      header.replaceChildren(button);
    });
    const box = table.parentElement;
    box.tabIndex = 0;  // so that the arrow keys scroll it where it is too wide
    box.addEventListener('scroll', () => mark_more(box));
    sizes.observe(box);
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
