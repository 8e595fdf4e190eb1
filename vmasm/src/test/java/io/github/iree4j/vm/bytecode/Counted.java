package io.github.iree4j.vm.bytecode;

import io.github.iree4j.lifetime.Resource;
import java.util.concurrent.atomic.AtomicInteger;

/** A counted object; a test counts the live objects. */
final class Counted extends Resource {
    private final AtomicInteger live;

    Counted(AtomicInteger live) {
        this.live = live;
        live.incrementAndGet();
    }

    @Override
    protected void destroy() {
        live.decrementAndGet();
    }
}
