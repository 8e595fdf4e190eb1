package io.github.iree4j.hal;

import io.github.iree4j.lifetime.Resource;

/** A group of participants in collective operations, seen from one of them. */
public abstract class Channel extends Resource {

    /** For backends. */
    protected Channel() {}

    /**
     * Returns which participant this is.
     *
     * @return 0 to {@link #count()} - 1
     */
    public abstract int rank();

    /**
     * Returns how many participants there are.
     *
     * @return the count
     */
    public abstract int count();
}
