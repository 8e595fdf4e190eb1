package io.github.iree4j.vm.bytecode;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.nativeaccess.NativeLibrary;
import io.github.iree4j.nativeaccess.SealedMemory;
import io.github.iree4j.status.FileInPlace;
import io.github.iree4j.status.FileKind;
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
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a compiled file, outside of the Java heap, where devices use constants and executables in place.
 * Programs loaded from one object share the object, and retain the object until the last program is closed. Immutable
 * and safe from any thread; closing releases the creator's reference.
 *
 * <p>The bytes are private and independent of the file, unless {@link #map} is used.
 */
public final class ModuleBytes extends Resource {
    /** Alignment of modules, as expected by programs for constants. */
    private static final long ALIGNMENT = 64;

    /** Bytes read at once. A guess, not measured. */
    private static final int CHUNK = 16 << 20;

    private final String name;
    private final MemorySegment segment;
    private final Runnable free;
    private final @Nullable FileInPlace mapped; // null for private bytes

    private ModuleBytes(String name, MemorySegment segment, Runnable free, @Nullable FileInPlace mapped) {
        this.name = name;
        this.segment = segment;
        this.free = free;
        this.mapped = mapped;
    }

    /**
     * Reads a file into newly allocated memory, and verifies the CRC-32 of zip members. The file may be changed or
     * deleted afterwards.
     *
     * @param file the file
     * @return the bytes of the file, owned by the caller
     * @throws IreeException NOT_FOUND when there is no such file, INVALID_ARGUMENT for a pipe, a device or a directory,
     *     and for a large file that is not a module, UNAVAILABLE when the file cannot be read, DATA_LOSS when the file
     *     has become shorter meanwhile or a checksum differs, RESOURCE_EXHAUSTED when there is not enough memory
     */
    public static ModuleBytes read(Path file) {
        return read(file, true);
    }

    /**
     * Reads a file with other contents, such as a parameter archive, as {@link #read} does.
     *
     * @param file the file
     * @return the bytes of the file, owned by the caller
     * @throws IreeException as {@link #read}
     */
    public static ModuleBytes readAny(Path file) {
        return read(file, false);
    }

    private static ModuleBytes read(Path file, boolean isModule) {
        return open(
                file,
                channel -> filled(file.toString(), channel.size(), bytes -> {
                    for (long at = 0; at < bytes.byteSize(); ) {
                        ByteBuffer part = bytes.asSlice(at, Math.min(CHUNK, bytes.byteSize() - at))
                                .asByteBuffer();
                        int count = channel.read(part, at);
                        if (count <= 0) {
                            throw IreeException.of(
                                    StatusCode.DATA_LOSS,
                                    "module file '%s' had %d bytes and now has %d: it is being written; load it when that is done"
                                            .formatted(file, bytes.byteSize(), at));
                        }
                        if (isModule && at == 0 && count == CHUNK) {
                            requireModule(file, bytes.asSlice(0, count));
                        }
                        at += count;
                    }
                }));
    }

    /** Fails for a large file that is no module, before the file takes memory. */
    private static void requireModule(Path file, MemorySegment start) {
        try {
            ModuleDef.requireModule(start);
        } catch (IreeException e) {
            throw IreeException.of(e.code(), "module file '%s': %s".formatted(file, e.getMessage()), e);
        }
    }

    /**
     * Maps a file instead of reading the file. Mapping is faster for large files, and the system can drop unused pages,
     * but the file must not change: calls in progress and later calls fail with DATA_LOSS, see {@link FileInPlace} for
     * the definition of a change. The file may be deleted, or replaced by renaming another file over it. Checksums are
     * not verified.
     *
     * @param file the file
     * @return the bytes of the file, owned by the caller
     * @throws IreeException NOT_FOUND when there is no such file, INVALID_ARGUMENT for a pipe, a device or a directory,
     *     UNAVAILABLE when the file cannot be mapped
     */
    public static ModuleBytes map(Path file) {
        return open(file, channel -> {
            FileInPlace state = FileInPlace.of("module file '" + file + "'", file);
            if (NativeLibrary.unavailabilityCause() == null && channel.size() > 0) {
                SealedMemory memory = SealedMemory.map(file.toString());
                return new ModuleBytes(file.toString(), memory.bytes(), memory::close, state);
            }
            Arena arena = Arena.ofShared();
            boolean done = false;
            try {
                MemorySegment bytes = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
                done = true;
                return new ModuleBytes(file.toString(), bytes, arena::close, state);
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
     * @param name the name in messages
     * @param content the contents of the file
     * @return a copy, owned by the caller
     * @throws IreeException RESOURCE_EXHAUSTED when there is not enough memory, DATA_LOSS when a checksum differs
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

    /** Reads the bytes of an open file. */
    @FunctionalInterface
    private interface Source {
        ModuleBytes get(FileChannel channel) throws IOException;
    }

    private static ModuleBytes open(Path file, Source source) {
        try {
            FileKind.requireRegular("module file", file);
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
                return source.get(channel);
            }
        } catch (NoSuchFileException e) {
            throw IreeException.of(StatusCode.NOT_FOUND, "module file '" + file + "' does not exist", e);
        } catch (IOException e) {
            throw IreeException.of(StatusCode.UNAVAILABLE, "module file '%s' cannot be read: %s".formatted(file, e), e);
        }
    }

    /** Fills memory with all bytes. */
    @FunctionalInterface
    private interface Filling {
        void fill(MemorySegment bytes) throws IOException;
    }

    /** Creates memory that is filled once and then read-only, for kernels too. */
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
            return new ModuleBytes(name, bytes, memory::close, null);
        } finally {
            if (!done) {
                memory.close();
            }
        }
    }

    /** Creates memory that is read-only for Java only: without native code there are no kernels that could write. */
    private static ModuleBytes onlyJava(String name, long size, Filling filling) throws IOException {
        Arena arena = Arena.ofShared();
        boolean done = false;
        try {
            MemorySegment bytes = arena.allocate(size, ALIGNMENT);
            filling.fill(bytes);
            ZipMembers.check(bytes, name);
            done = true;
            return new ModuleBytes(name, bytes.asReadOnly(), arena::close, null);
        } catch (OutOfMemoryError e) {
            throw noMemory(name, size, e);
        } finally {
            if (!done) {
                arena.close();
            }
        }
    }

    private static IreeException noMemory(String name, long size, Throwable cause) {
        return IreeException.of(
                StatusCode.RESOURCE_EXHAUSTED,
                "module file '%s' has %d bytes and the system has no memory for them (%s); give the process more, keep parameters in a separate file, or map the module"
                        .formatted(name, size, cause.getMessage()),
                cause);
    }

    /**
     * Returns the name of the module in messages.
     *
     * @return the path of the file, or the given name
     */
    public String name() {
        return name;
    }

    /**
     * Returns the bytes.
     *
     * @return the bytes, read-only, valid while this object is retained
     */
    public MemorySegment segment() {
        checkLive();
        return segment;
    }

    /**
     * Returns the mapped file.
     *
     * @return the file; null when the bytes are independent of the file
     */
    public @Nullable FileInPlace file() {
        return mapped;
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
