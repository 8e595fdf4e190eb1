package io.github.iree4j.nativeaccess;

import static java.util.Objects.requireNonNull;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.KernelFault;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;

/**
 * Kernels with stores to invalid addresses ({@code native-shim/test/kernels/faulty.c}), and each kind of memory to
 * store to.
 */
final class FaultyKernels implements AutoCloseable {
    /** The target of a store. */
    enum Kind {
        NOTHING,
        FAR,
        MAPPED_PARAMETERS,
        MAPPED_MODULE,
        SEALED_MODULE,
        VIEW_OF_CONSTANT,
        OWN_CONSTANTS,
        OWN_CODE,
        BOUND;

        /** Whether the store is valid. */
        boolean isRight() {
            return this == VIEW_OF_CONSTANT || this == BOUND;
        }
    }

    private static final int BYTES = 4096;

    private final Arena arena = Arena.ofShared();
    private final CpuLibrary library = CpuLibrary.load("faulty", TestKernels.elf("faulty"), new int[0]);
    private final MemorySegment bound = arena.allocate(BYTES, 64);
    private final MemorySegment mapped;
    private final SealedMemory module;
    private final SealedMemory sealed = SealedMemory.create(BYTES);
    private PrivateView view;

    /** Creates each kind of memory, with a file in a directory. */
    FaultyKernels(Path directory) throws IOException {
        Path file = Files.write(directory.resolve("file.bin"), new byte[BYTES]);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            mapped = channel.map(MapMode.READ_ONLY, 0, BYTES, arena);
        }
        module = SealedMemory.map(file.toString());
        sealed.writable().fill((byte) 3);
        sealed.seal();
        view = view();
    }

    private PrivateView view() {
        return requireNonNull(SealedMemory.viewOf(sealed.bytes()));
    }

    private static long address(Kind kind, Random random, FaultyKernels all) {
        long at = random.nextInt(4, BYTES);
        return switch (kind) {
            case NOTHING -> at;
            case FAR -> random.nextLong() | Long.MIN_VALUE;
            case MAPPED_PARAMETERS -> all.mapped.address() + at;
            case MAPPED_MODULE -> all.module.bytes().address() + at;
            case SEALED_MODULE -> all.sealed.bytes().address() + at;
            case VIEW_OF_CONSTANT -> all.view.bytes().address() + at;
            case BOUND -> all.bound.address() + at;
            default -> 0;
        };
    }

    /** Runs a store in the second of three workgroups, and returns the outcome. */
    String store(Random random) {
        Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
        long address = address(kind, random, this);
        String kernel = switch (kind) {
            case OWN_CONSTANTS -> "store_to_constants";
            case OWN_CODE -> "store_to_code";
            default -> "store";
        };
        DispatchState state = new DispatchState()
                .begin(3, 1)
                .workgroupCount(3, 1, 1)
                .constants(new int[] {0, (int) address, (int) (address >>> 32), 1}, 1)
                .binding(0, bound, 0, BYTES);
        String how;
        try {
            library.dispatch(library.lookup(kernel), state, 0, 3, MemorySegment.NULL, 0);
            how = "right";
        } catch (IreeException e) {
            how = e.code() == StatusCode.INTERNAL
                            && e.detail(KernelFault.class).isPresent()
                            && e.getMessage().startsWith("dispatch '" + kernel + "' of executable 'faulty' was stopped")
                    ? "stopped"
                    : e.toString();
        }
        if (!how.equals(kind.isRight() ? "right" : "stopped")) {
            throw new AssertionError("a store to " + kind + " ended unexpectedly: " + how);
        }
        if (kind == Kind.VIEW_OF_CONSTANT) {
            restore();
            if (sealed.bytes().get(ValueLayout.JAVA_BYTE, 4) != 3) {
                throw new AssertionError("the store is visible outside the view");
            }
        }
        return kind.name();
    }

    /** On Windows another thread may take the addresses of the view. */
    private void restore() {
        try {
            view.restore();
        } catch (IreeException e) {
            if (e.code() != StatusCode.RESOURCE_EXHAUSTED) {
                throw e;
            }
            view.close();
            view = view();
        }
    }

    /** Calls a kernel with a store to an address. */
    void storeTo(long address) {
        DispatchState state = new DispatchState()
                .begin(3, 1)
                .workgroupCount(1, 1, 1)
                .constants(new int[] {0, (int) address, (int) (address >>> 32), 0}, 1)
                .binding(0, bound, 0, BYTES);
        library.dispatch(library.lookup("store"), state, 0, 1, MemorySegment.NULL, 0);
    }

    @Override
    public void close() {
        view.close();
        sealed.close();
        module.close();
        library.close();
        arena.close();
    }
}
