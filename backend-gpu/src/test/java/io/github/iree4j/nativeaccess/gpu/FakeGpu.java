package io.github.iree4j.nativeaccess.gpu;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A library of CUDA's or HIP's driver without hardware, for tests: concurrently running streams, hidden memory, modules
 * in PTX, graphs, injected failures, complaints about misuse, counts of calls. {@code native-shim/test/gpu/fake_gpu.h}
 * documents the settings. Each instance has a private copy of the library, and so private settings and state.
 *
 * <pre>
 *   FakeGpu fake = FakeGpu.in(temporaryDirectory, FakeGpu.Kind.CUDA, "devices=2 oom_allocation=3");
 *   ... open fake.library() ... fake.lose(); ...
 *   assertThat(fake.complaints()).isEmpty();
 * </pre>
 */
@SuppressWarnings("restricted") // functions of the fake, with their declared types
public final class FakeGpu {
    private static final Path BUILT =
            Path.of(System.getProperty("iree4j.test.fake-gpu", "../native-shim/build/release/test"));

    private static final AtomicInteger COPIES = new AtomicInteger();

    private static final int COMPLAINTS_BYTES = 16384;

    /** The driver's owner. */
    public enum Kind {
        CUDA,
        HIP;

        private String fileName() {
            return "libfake_" + name().toLowerCase(Locale.ROOT);
        }
    }

    private final Path library;

    /** Keeps the library loaded, and so its complaints and counts, after the close by its user. */
    private final SymbolLookup symbols;

    private FakeGpu(Path library) {
        this.library = library;
        this.symbols = SymbolLookup.libraryLookup(library.toAbsolutePath(), Arena.ofAuto());
    }

    /** Creates a copy with settings, separated by blanks. Skips the test if the build of the shim produced none. */
    public static FakeGpu in(Path directory, Kind kind, String settings) {
        Path built = BUILT.resolve(kind.fileName() + ".so");
        assumeTrue(Files.exists(built), "no fake library of " + kind + "; bin/cmake-native release builds it");
        try {
            Path copy = directory.resolve(kind.fileName() + "_" + COPIES.incrementAndGet() + ".so");
            Files.copy(built, copy);
            Files.writeString(Path.of(copy + ".conf"), settings);
            return new FakeGpu(copy);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The library's path, for opening. */
    public String library() {
        return library.toAbsolutePath().toString();
    }

    /**
     * Replaces the settings, except the missing symbols. The settings are read when the library is initialized while no
     * device is open.
     */
    public void set(String settings) {
        try {
            Files.writeString(Path.of(library + ".conf"), settings);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Keeps its streams from starting enqueued work until {@link #goOn}. */
    public void hang() {
        create(".hang");
    }

    /** The same for a single stream, in the order of creation, from 0. */
    public void hang(int stream) {
        try {
            Files.writeString(Path.of(library + ".hang"), Integer.toString(stream));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ends {@link #hang}; no effect without it. */
    public void goOn() {
        try {
            Files.deleteIfExists(Path.of(library + ".hang"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Makes its devices lost from now on, and ends waits in progress. */
    public void lose() {
        create(".lost");
    }

    /** Ends {@link #lose} for devices opened from now on; no effect without it. */
    public void find() {
        try {
            Files.deleteIfExists(Path.of(library + ".lost"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The complaints, the latest of them; empty without misuse. */
    public List<String> complaints() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocate(COMPLAINTS_BYTES);
            int count = (int) function(
                            "fake_gpu_complaints",
                            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT))
                    .invokeExact(text, COMPLAINTS_BYTES);
            return count == 0 ? List.of() : text.getString(0).lines().toList();
        } catch (Throwable e) {
            throw new IllegalStateException("'" + library + "' cannot be asked for complaints", e);
        }
    }

    /**
     * How often an entry point was called.
     *
     * @param name as in {@code gpu_symbols.inc}, such as {@code launch}, or as in the library, such as {@code cuLaunchKernel}
     */
    public long calls(String name) {
        try (Arena arena = Arena.ofConfined()) {
            return (long) function("fake_gpu_calls", FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.ADDRESS))
                    .invokeExact(arena.allocateFrom(name));
        } catch (Throwable e) {
            throw new IllegalStateException("'" + library + "' cannot be asked for its calls", e);
        }
    }

    /** Forgets complaints and counts of calls. */
    public void forget() {
        try {
            function("fake_gpu_forget", FunctionDescriptor.ofVoid()).invokeExact();
        } catch (Throwable e) {
            throw new IllegalStateException("'" + library + "' cannot be asked to forget", e);
        }
    }

    @SuppressWarnings("restricted") // functions of the fake, with their declared types
    private MethodHandle function(String name, FunctionDescriptor descriptor) {
        return Linker.nativeLinker().downcallHandle(symbols.findOrThrow(name), descriptor);
    }

    private void create(String suffix) {
        try {
            Files.createFile(Path.of(library + suffix));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
