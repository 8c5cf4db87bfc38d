import type { Theme } from './timeline'

export interface NamedTheme extends Theme {
  readonly name: 'light' | 'dark'
  /** Colours that are told apart. */
  readonly bars: readonly string[]
}

/** The colours of docs/evidence/charts. GitHub shows a page in either theme, and so does a browser. */
export const THEMES: readonly NamedTheme[] = [
  {
    ...{ name: 'light', background: '#ffffff', text: '#1f2328', faint: '#d1d9e0', trouble: '#cf222e' },
    bars: ['#0969da', '#bc4c00', '#8250df', '#1a7f37', '#bf3989', '#9a6700'],
  },
  {
    ...{ name: 'dark', background: '#0d1117', text: '#e6edf3', faint: '#3d444d', trouble: '#ff7b72' },
    bars: ['#4493f8', '#f0883e', '#ab7df8', '#3fb950', '#db61a2', '#d29922'],
  },
]
