package io.github.iree4j.hal.gpu;

import io.github.iree4j.lifetime.RefCounted;
import java.util.concurrent.atomic.AtomicInteger;

/** An owner of memory, with a count of its users. */
final class Owner implements RefCounted {
    final AtomicInteger users = new AtomicInteger();

    @Override
    public void retain() {
        users.incrementAndGet();
    }

    @Override
    public void release() {
        users.decrementAndGet();
    }
}
