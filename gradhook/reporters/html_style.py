"""The style sheet of the HTML report: light, dark and print."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1c1c1c; --soft: #595959; --line: #d0d0d0; --tint: #f4f4f4;
  --fail: #b3122f; --error: #8a1aa6; --undecided: #8a5a00; --pass: #176b2c; --skip: #595959; --advice: #0b5cad;
  --c0: #b3122f; --c1: #0b5cad; --c2: #00666b; --c3: #6b6b6b; --c4: #6b6b6b; --c5: #6b6b6b; --hot: 179 18 47;
  --cold: 11 92 173; }
@media (prefers-color-scheme: dark) { :root { --paper: #17181a; --ink: #ececec; --soft: #b0b0b0; --line: #45474b;
  --tint: #222427; --fail: #ff8a9a; --error: #e3a1f5; --undecided: #f2c063; --pass: #7fd694; --skip: #b0b0b0;
  --advice: #7db7f5;
  --c0: #ff8a9a; --c1: #7db7f5; --c2: #6fd3d8; --c3: #b0b0b0; --c4: #b0b0b0; --c5: #b0b0b0; --hot: 255 138 154;
  --cold: 125 183 245; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1, h2, h3 { line-height: 1.25; } h1 { margin: 0; } h2 { margin: 0; overflow-wrap: anywhere; font-size: 1.25rem; }
a { color: inherit; } code, pre { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; }
pre { background: var(--tint); padding: .5rem; overflow-x: auto; overflow-wrap: normal; }
.soft { color: var(--soft); } .command { user-select: all; }
.badge { display: inline-block; min-width: 6.2rem; padding: 0 .5rem; border: 2px solid currentColor;
  border-radius: .3rem;
  text-align: center; font: 600 .85rem/1.5 system-ui, sans-serif; }
.fail { --mark: var(--fail); } .error { --mark: var(--error); } .undecided { --mark: var(--undecided); }
.pass { --mark: var(--pass); } .skip { --mark: var(--skip); } .advice { --mark: var(--advice); }
.badge { color: var(--mark); }
section.target { border-top: 1px solid var(--line); padding: 1rem 0; content-visibility: auto;
  contain-intrinsic-size: auto 20rem; }
article { border-left: .25rem solid var(--mark); padding: .1rem 0 .1rem 1rem; margin: .8rem 0; }
article p { margin: .35rem 0; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; max-width: 100%; } .scroll:focus-visible, summary:focus-visible, a:focus-visible,
input:focus-visible { outline: 3px solid var(--c1); outline-offset: 2px; }
table { border-collapse: collapse; margin: .5rem 0; font-variant-numeric: tabular-nums; }
th, td { border: 1px solid var(--line); padding: .15rem .5rem; text-align: left; vertical-align: top;
  font-weight: 400; }
thead th { background: var(--tint); font-weight: 600; } td.number { text-align: right; white-space: nowrap; }
td.off { outline: 2px solid var(--fail); outline-offset: -2px; font-weight: 700; }
.matrices { display: flex; flex-wrap: wrap; gap: 1rem; } .matrices > figure { max-width: 100%; }
figure { margin: .6rem 0; } figcaption { color: var(--soft); font-size: .9rem; }
fieldset { border: 1px solid var(--line); margin: 1rem 0; padding: .3rem 1rem; } fieldset label { margin-right:
  1.2rem; }
summary { cursor: pointer; } dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; }
dd { margin: 0; overflow-wrap: anywhere; }
.chart { display: block; width: 100%; max-width: 46rem; height: auto; }
.chart text { fill: var(--ink); font: 12px system-ui, sans-serif; } .chart .axis.y text { text-anchor: end; }
.chart .axis.x text, .chart .title { text-anchor: middle; } .chart .background { fill: none; }
.chart .guide.line { stroke: var(--line); stroke-width: .6; } .chart .axis > .line { stroke: var(--soft); fill:
  none; }
.chart .series .line { fill: none; stroke: var(--c); stroke-width: 2; }
.chart .color-0 .line { stroke-width: 3; } .chart .color-2 .line { stroke-dasharray: 2 3; }
.chart .guide-series .line { stroke-dasharray: 8 4; stroke-width: 1.3; }
.chart .color-4 .line { stroke-dasharray: 3 3; } .chart .color-5 .line { stroke-dasharray: 1 3; }
.chart .tooltip { display: none; }
.chart .dot { fill: var(--c); stroke: none; }
.color-0 { --c: var(--c0); } .color-1 { --c: var(--c1); } .color-2 { --c: var(--c2); }
.color-3 { --c: var(--c3); } .color-4 { --c: var(--c4); } .color-5 { --c: var(--c5); }
.legend { display: flex; flex-wrap: wrap; gap: 0 1.2rem; list-style: none; margin: .2rem 0; padding: 0; }
.legend li::before { content: ""; display: inline-block; width: 2rem; margin-right: .4rem; vertical-align: middle;
  border-top: 2px solid var(--c); }
.legend .color-0::before { border-top-width: 4px; } .legend .color-2::before { border-top-style: dotted; }
.legend .guide-series::before { border-top-style: dashed; } .legend .color-5::before { border-top-style: dotted; }
body:has(#show-error:not(:checked)) .target.error, body:has(#show-error:not(:checked)) tr.error,
body:has(#show-fail:not(:checked)) .target.fail, body:has(#show-fail:not(:checked)) tr.fail,
body:has(#show-undecided:not(:checked)) .target.undecided, body:has(#show-undecided:not(:checked)) tr.undecided,
body:has(#show-pass:not(:checked)) .target.pass, body:has(#show-pass:not(:checked)) tr.pass,
body:has(#show-skip:not(:checked)) .target.skip, body:has(#show-skip:not(:checked)) tr.skip { display: none; }
@media print { :root { color-scheme: light; } body { max-width: none; padding: 0; font-size: 10pt; } fieldset {
  display: none; }
  section.target { content-visibility: visible; } article, figure, tr { break-inside: avoid; } .scroll {
  overflow: visible; } }
"""
