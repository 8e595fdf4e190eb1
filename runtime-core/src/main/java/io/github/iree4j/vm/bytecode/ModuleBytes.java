package io.github.iree4j.vm.bytecode;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.nativeaccess.NativeLibrary;
import io.github.iree4j.nativeaccess.SealedMemory;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * All bytes of a compiled file, outside of the Java heap, where devices use constants and executables in place. Programs that are loaded
 * from one object share it, and keep it until the last of them is closed. Immutable and safe from any thread; closing gives the creator's
 * reference up.
 *
 * <p>The bytes are private, whatever happens to the file, unless {@link #map} is asked for.
 */
public final class ModuleBytes extends Resource {
    /** Where modules are aligned to: what programs expect of constants. */
    private static final long ALIGNMENT = 64;

    /** How much is read at once. A guess, not measured. */
    private static final int CHUNK = 16 << 20;

    private final String name;
    private final MemorySegment segment;
    private final Runnable free;

    private ModuleBytes(String name, MemorySegment segment, Runnable free) {
        this.name = name;
        this.segment = segment;
        this.free = free;
    }

    /**
     * Reads a file into memory of its own, and compares what is in a zip with its CRC-32. The file may be changed or deleted afterwards.
     *
     * @param file the file
     * @return its bytes, owned by the caller
     * @throws IreeException NOT_FOUND when there is no such file, UNAVAILABLE when it cannot be read, DATA_LOSS when it became shorter
     *     meanwhile or a checksum differs, RESOURCE_EXHAUSTED when there is no memory for it
     */
    public static ModuleBytes read(Path file) {
        return open(
                file,
                channel -> filled(file.toString(), channel.size(), bytes -> {
                    for (long at = 0; at < bytes.byteSize(); ) {
                        ByteBuffer part = bytes.asSlice(at, Math.min(CHUNK, bytes.byteSize() - at))
                                .asByteBuffer();
                        int count = channel.read(part, at);
                        if (count <= 0) {
                            throw new IreeException(
                                    StatusCode.DATA_LOSS,
                                    "module file '%s' had %d bytes and has %d now: it is being written; load it when that is done"
                                            .formatted(file, bytes.byteSize(), at));
                        }
                        at += count;
                    }
                }));
    }

    /**
     * Maps a file instead of reading it. That is faster for large ones, and the system can drop what is not used. The price: the file must
     * not change. When another process truncates it, the virtual machine is killed (SIGBUS) as soon as a kernel reads beyond its end; when one
     * overwrites it, results are wrong without a word. It may be deleted, or replaced by renaming another over it. Checksums are not compared.
     *
     * @param file the file
     * @return its bytes, owned by the caller
     * @throws IreeException NOT_FOUND when there is no such file, UNAVAILABLE when it cannot be mapped
     */
    public static ModuleBytes map(Path file) {
        return open(file, channel -> {
            if (NativeLibrary.unavailabilityCause() == null && channel.size() > 0) {
                SealedMemory memory = SealedMemory.map(file.toString());
                return new ModuleBytes(file.toString(), memory.bytes(), memory::close);
            }
            Arena arena = Arena.ofShared();
            boolean done = false;
            try {
                MemorySegment bytes = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
                done = true;
                return new ModuleBytes(file.toString(), bytes, arena::close);
            } finally {
                if (!done) {
                    arena.close();
                }
            }
        });
    }

    /**
     * Copies the bytes of a file.
     *
     * @param name what to call it in messages
     * @param content what the file contains
     * @return a copy, owned by the caller
     * @throws IreeException RESOURCE_EXHAUSTED when there is no memory for it, DATA_LOSS when a checksum differs
     */
    public static ModuleBytes copyOf(String name, byte[] content) {
        try {
            return filled(
                    name,
                    content.length,
                    bytes -> MemorySegment.copy(content, 0, bytes, ValueLayout.JAVA_BYTE, 0, content.length));
        } catch (IOException e) {
            throw new IllegalStateException("nothing was read", e);
        }
    }

    /** Makes bytes of an open file. */
    @FunctionalInterface
    private interface Source {
        ModuleBytes get(FileChannel channel) throws IOException;
    }

    private static ModuleBytes open(Path file, Source source) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            return source.get(channel);
        } catch (NoSuchFileException e) {
            throw new IreeException(StatusCode.NOT_FOUND, "module file '" + file + "' does not exist", e);
        } catch (IOException e) {
            throw new IreeException(
                    StatusCode.UNAVAILABLE, "module file '%s' cannot be read: %s".formatted(file, e), e);
        }
    }

    /** Writes all bytes. */
    @FunctionalInterface
    private interface Filling {
        void fill(MemorySegment bytes) throws IOException;
    }

    /** Memory that was filled and cannot be written any more, by kernels neither. */
    private static ModuleBytes filled(String name, long size, Filling filling) throws IOException {
        return NativeLibrary.unavailabilityCause() == null
                ? sealed(name, size, filling)
                : onlyJava(name, size, filling);
    }

    private static ModuleBytes sealed(String name, long size, Filling filling) throws IOException {
        SealedMemory memory;
        try {
            memory = SealedMemory.create(Math.max(1, size));
        } catch (IreeException e) {
            throw e.code() == StatusCode.RESOURCE_EXHAUSTED ? noMemory(name, size, e) : e;
        }
        boolean done = false;
        try {
            MemorySegment bytes = memory.writable().asSlice(0, size);
            filling.fill(bytes);
            ZipMembers.check(bytes, name);
            bytes = memory.seal().asSlice(0, size);
            done = true;
            return new ModuleBytes(name, bytes, memory::close);
        } finally {
            if (!done) {
                memory.close();
            }
        }
    }

    /** Without native code there are no kernels that could write: read-only for Java is enough. */
    private static ModuleBytes onlyJava(String name, long size, Filling filling) throws IOException {
        Arena arena = Arena.ofShared();
        boolean done = false;
        try {
            MemorySegment bytes = arena.allocate(size, ALIGNMENT);
            filling.fill(bytes);
            ZipMembers.check(bytes, name);
            done = true;
            return new ModuleBytes(name, bytes.asReadOnly(), arena::close);
        } catch (OutOfMemoryError e) {
            throw noMemory(name, size, e);
        } finally {
            if (!done) {
                arena.close();
            }
        }
    }

    private static IreeException noMemory(String name, long size, Throwable cause) {
        return new IreeException(
                StatusCode.RESOURCE_EXHAUSTED,
                "module file '%s' has %d bytes and the system has no memory for them (%s); give the process more, keep parameters in a file of their own, or have the module mapped"
                        .formatted(name, size, cause.getMessage()),
                cause);
    }

    /**
     * Returns what to call the module in messages.
     *
     * @return the path of its file, or the name that was given
     */
    public String name() {
        return name;
    }

    /**
     * Returns the bytes.
     *
     * @return read-only, valid while this is held
     */
    public MemorySegment segment() {
        checkLive();
        return segment;
    }

    @Override
    protected void destroy() {
        free.run();
    }

    @Override
    protected String describe() {
        return "module file '" + name + "'";
    }
}
