package pages;

import io.github.iree4j.async.io.AsyncFile;
import io.github.iree4j.async.io.SystemIo;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

class Files {
    void read(Path path, MemorySegment target, CountDownLatch done) throws Exception {
        // fence 1
    }
}
