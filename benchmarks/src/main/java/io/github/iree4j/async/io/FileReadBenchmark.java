package io.github.iree4j.async.io;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How much does reading a file through the proactor cost, compared with reading directly?
 *
 * <p>The file is in the page cache, where the difference shows; a disk takes longer than any of these readers.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@State(Scope.Thread)
public class FileReadBenchmark {
    private static final int PIECE = 1 << 20;

    /** The reader. */
    public enum Reader {
        /** The calling thread. */
        CHANNEL,
        /** The calling thread, from a new mapping, as when an archive is opened. */
        MAPPING,
        /** The kernel. */
        RING,
        /** A thread pool. */
        POOL
    }

    @Param
    private Reader reader = Reader.CHANNEL;

    @Param({"4096", "67108864"})
    private int bytes;

    private final Arena arena = Arena.ofShared();
    private MemorySegment target = MemorySegment.NULL;
    private Path path = Path.of("");
    private FileChannel channel;
    private SystemIo io;
    private AsyncFile file;

    /** For JMH. */
    @SuppressWarnings("NullAway") // set by prepare()
    public FileReadBenchmark() {}

    /** Creates the file. */
    @Setup(Level.Trial)
    public void prepare() throws IOException {
        target = arena.allocate(bytes, 4096);
        target.fill((byte) 1); // commits the pages
        path = Files.createTempFile("iree4j", ".bin");
        Files.write(path, new byte[bytes]);
        channel = FileChannel.open(path, StandardOpenOption.READ);
        io = SystemIo.start("iree4j-benchmark", reader == Reader.RING ? SystemIo.Files.RING : SystemIo.Files.POOL);
        file = io.open(path, true, false);
    }

    /** Removes the file. */
    @TearDown(Level.Trial)
    public void remove() throws IOException {
        file.close();
        io.close();
        channel.close();
        Files.delete(path);
        arena.close();
    }

    /** Reads the whole file, and waits. */
    @Benchmark
    public MemorySegment read() throws IOException, InterruptedException {
        switch (reader) {
            case CHANNEL -> {
                for (int at = 0; at < bytes; at += PIECE) {
                    ByteBuffer piece =
                            target.asSlice(at, Math.min(PIECE, bytes - at)).asByteBuffer();
                    channel.read(piece, at);
                }
            }
            case MAPPING -> {
                try (Arena mapping = Arena.ofConfined()) {
                    MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, bytes, mapping);
                    MemorySegment.copy(mapped, 0, target, 0, bytes);
                }
            }
            case RING, POOL -> {
                CountDownLatch over = new CountDownLatch(1);
                file.readFully(0, target, (_, failure) -> {
                    if (failure != null) {
                        throw new UncheckedIOException(new IOException(failure));
                    }
                    over.countDown();
                });
                over.await();
            }
        }
        return target;
    }
}
