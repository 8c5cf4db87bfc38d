import { type ArgumentsHost, Catch, ConflictException } from '@nestjs/common'
import { BaseExceptionFilter } from '@nestjs/core'
import { LockTimeoutError } from 'rlock'

/**
 * Answers 409 to a request that did not get a lock or a permit within its `waitTime`. Without it, Nest answers 500. The answer
 * does not name the lock. For all routes: `{ provide: APP_FILTER, useClass: LockTimeoutFilter }` among the providers of a module.
 * Where a call is no HTTP request, the error goes on to the next filter.
 */
export class LockTimeoutFilter extends BaseExceptionFilter {
  override catch(error: LockTimeoutError, host: ArgumentsHost): void {
    if (host.getType() !== 'http') throw error
    const busy = 'Another request is working on this. Try again later.'
    super.catch(new ConflictException(busy, { cause: error }), host)
  }
}

Catch(LockTimeoutError)(LockTimeoutFilter)
