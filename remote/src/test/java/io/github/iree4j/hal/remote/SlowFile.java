package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CountDownLatch;

/** A read takes as long as the test likes. */
final class SlowFile extends HalFile {
    final CountDownLatch begun = new CountDownLatch(1);
    final CountDownLatch end = new CountDownLatch(1);

    SlowFile() {
        super("slow file", MemoryAccess.READ);
    }

    @Override
    public long length() {
        return 64;
    }

    @Override
    protected void doRead(long offset, MemorySegment target) {
        begun.countDown();
        try {
            end.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    protected void doWrite(long offset, MemorySegment source) {
        throw new AssertionError("written");
    }

    @Override
    protected void destroy() {}
}
