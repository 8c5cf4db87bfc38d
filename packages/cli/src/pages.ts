import { repository, version } from '../package.json'

/** The address of a page of this version: who runs the tool by npx has no docs. */
export function addressOf(page: string): string {
  return `${repository.url.replace(/^git\+|\.git$/g, '')}/blob/v${version}/${page}`
}
