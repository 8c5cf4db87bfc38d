package rlock.peer;

/** What one thread does at a lock again and again. */
interface Section {
    /** Asks for the lock, and goes in and out when it gets it; false when it got none. */
    boolean turn(ContentionTally tally) throws Exception;
}
