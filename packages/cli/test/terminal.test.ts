import { expect } from 'chai'
import { Screen } from '../src/terminal'

const ESCAPE = '\u001b['

describe('The terminal of the command rlock', () => {
  const written = (isTTY: boolean, env: Record<string, string>) => {
    let text = ''
    const output = {
      isTTY,
      write(part: string) {
        text += part
      },
    }
    const screen = new Screen(output, env)
    screen.line(screen.style('red', 'no-expiry'))
    return text
  }

  it('rlock has colours on a terminal only, none with NO_COLOR or on a dumb terminal', () => {
    expect(written(true, {})).to.contain(ESCAPE)
    expect(written(false, {})).to.equal('no-expiry\n')
    expect(written(true, { NO_COLOR: '1' })).to.equal('no-expiry\n')
    expect(written(true, { TERM: 'dumb' })).to.equal('no-expiry\n')
  })
})
