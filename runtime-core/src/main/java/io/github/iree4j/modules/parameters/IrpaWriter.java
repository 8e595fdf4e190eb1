package io.github.iree4j.modules.parameters;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Writes {@code .irpa} archives, byte for byte in the layout of IREE's tools: header, entry table, names, data aligned
 * to 64 bytes, file padded to 4096. Not thread-safe.
 */
public final class IrpaWriter {
    private static final long CHUNK = 64L << 20; // bytes written and reported at once

    private final Map<String, ParameterEntry> entries = new LinkedHashMap<>();

    /** Creates a writer without entries. */
    public IrpaWriter() {}

    /**
     * Adds a parameter with bytes stored in the file.
     *
     * @param key the key, not used before
     * @param data the bytes, read when the archive is written
     * @return this
     */
    public IrpaWriter stored(String key, MemorySegment data) {
        return add(new ParameterEntry.Stored(key, data, null));
    }

    /**
     * Adds a parameter of 32-bit floats stored in the file.
     *
     * @param key the key, not used before
     * @param data the values; copied
     * @return this
     */
    public IrpaWriter stored(String key, float... data) {
        byte[] bytes = new byte[Math.multiplyExact(data.length, Float.BYTES)];
        MemorySegment segment = MemorySegment.ofArray(bytes);
        for (int i = 0; i < data.length; i++) {
            segment.set(ArchiveSource.U32, (long) i * Float.BYTES, Float.floatToRawIntBits(data[i]));
        }
        return stored(key, segment);
    }

    /**
     * Adds a parameter repeating a pattern and taking no room in the file.
     *
     * @param key the key, not used before
     * @param length the length in bytes, a multiple of the pattern's
     * @param pattern the pattern in memory order: 1, 2, 4, 8 or 16 bytes
     * @return this
     */
    public IrpaWriter splat(String key, long length, byte... pattern) {
        return add(new ParameterEntry.Splat(key, length, pattern));
    }

    /**
     * Adds a parameter of another archive unchanged, under the same key.
     *
     * @param entry a parameter; the bytes are read when the archive is written, and must be valid until then
     * @return this
     */
    public IrpaWriter add(ParameterEntry entry) {
        if (entries.putIfAbsent(entry.key(), entry) != null) {
            throw IreeException.of(
                    StatusCode.ALREADY_EXISTS, "parameter '%s' is in the archive already".formatted(entry.key()));
        }
        return this;
    }

    /**
     * Writes the archive, replacing an existing file. The archive is written under another name in the same directory
     * and renamed when complete, so mappings of the old file (including mappings behind this writer's parameters) stay
     * valid.
     *
     * @param path the file
     * @throws IOException when the file cannot be written
     */
    public void write(Path path) throws IOException {
        write(path, null);
    }

    /**
     * Writes the archive, as {@link #write(Path)}, and reports progress.
     *
     * @param path the file
     * @param listener receives the bytes written, LOADING until everything is written, then LOADED, on this thread;
     *     null for none
     * @throws IOException when the file cannot be written
     */
    public void write(Path path, ParameterProgress.@Nullable Listener listener) throws IOException {
        Path target = Files.isSymbolicLink(path) ? path.toRealPath() : path.toAbsolutePath();
        Path partial =
                Files.createTempFile(target.getParent(), "." + target.getFileName(), ".part", permissionsLike(target));
        try {
            writeTo(partial, listener);
            Files.move(partial, target, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(partial);
        }
    }

    private void writeTo(Path partial, ParameterProgress.@Nullable Listener listener) throws IOException {
        MemorySegment head = layOut();
        long total = entries.values().stream()
                .filter(ParameterEntry.Stored.class::isInstance)
                .mapToLong(ParameterEntry::length)
                .sum();
        LoadProgress progress = listener == null ? null : LoadProgress.ofLoading(listener, "");
        if (progress != null) {
            progress.expect(total);
        }
        try (FileChannel channel = FileChannel.open(partial, StandardOpenOption.WRITE)) {
            long storage = head.get(ArchiveSource.U64, IrpaFormat.STORAGE_SEGMENT);
            long end = storage + head.get(ArchiveSource.U64, IrpaFormat.STORAGE_SEGMENT + 8);
            write(channel, head, 0);
            long at = storage;
            for (ParameterEntry entry : entries.values()) {
                if (entry instanceof ParameterEntry.Stored stored) {
                    at = storage + IrpaFormat.align(at - storage, IrpaFormat.DATA_ALIGNMENT);
                    for (long done = 0; done < stored.length(); done += CHUNK) {
                        long size = Math.min(CHUNK, stored.length() - done);
                        write(channel, stored.data().asSlice(done, size), at + done);
                        if (progress != null) {
                            progress.arrived(stored, size);
                        }
                    }
                    at += stored.length();
                }
            }
            long size = IrpaFormat.align(end, IrpaFormat.FILE_ALIGNMENT);
            if (channel.size() < size) {
                channel.write(ByteBuffer.allocate(1), size - 1);
            }
        }
        if (progress != null) {
            progress.complete();
        }
    }

    /** A temporary file is accessible by the owner only; an archive gets the permissions of the replaced file, or the permissions of new files. */
    private static FileAttribute<?>[] permissionsLike(Path target) throws IOException {
        if (!target.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            return new FileAttribute<?>[0];
        }
        Set<PosixFilePermission> permissions = Files.exists(target)
                ? Files.getPosixFilePermissions(target)
                : PosixFilePermissions.fromString("rw-r--r--");
        permissions.add(PosixFilePermission.OWNER_WRITE); // needed to write the archive
        return new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(permissions)};
    }

    /** Lays out header, entry table and names: everything before the data. */
    private MemorySegment layOut() {
        List<byte[]> names = new ArrayList<>();
        long tableSize = 0;
        long namesSize = 0;
        long storageSize = 0;
        boolean anyStored = false;
        for (ParameterEntry entry : entries.values()) {
            byte[] name = entry.key().getBytes(StandardCharsets.UTF_8);
            names.add(name);
            namesSize += name.length;
            tableSize = IrpaFormat.align(tableSize, IrpaFormat.ENTRY_ALIGNMENT);
            switch (entry) {
                case ParameterEntry.Splat splat -> tableSize += IrpaFormat.SPLAT_ENTRY_SIZE;
                case ParameterEntry.Stored stored -> {
                    tableSize += IrpaFormat.DATA_ENTRY_SIZE;
                    storageSize = IrpaFormat.align(storageSize, IrpaFormat.DATA_ALIGNMENT) + stored.length();
                    anyStored = true;
                }
            }
        }
        long table = IrpaFormat.align(IrpaFormat.HEADER_SIZE, IrpaFormat.ENTRY_ALIGNMENT);
        long metadata = table + tableSize;
        long storage = IrpaFormat.align(metadata + namesSize, anyStored ? IrpaFormat.DATA_ALIGNMENT : 1);

        MemorySegment head = MemorySegment.ofArray(new byte[Math.toIntExact(storage)]);
        head.set(ArchiveSource.U32, 0, IrpaFormat.MAGIC);
        head.set(ArchiveSource.U64, IrpaFormat.HEADER_SIZE_FIELD, IrpaFormat.HEADER_SIZE);
        head.set(ArchiveSource.U64, IrpaFormat.ENTRY_COUNT, entries.size());
        setRange(head, IrpaFormat.ENTRY_SEGMENT, table, tableSize);
        setRange(head, IrpaFormat.METADATA_SEGMENT, metadata, namesSize);
        setRange(head, IrpaFormat.STORAGE_SEGMENT, storage, storageSize);
        long at = table;
        long nameAt = 0;
        long dataAt = 0;
        int index = 0;
        for (ParameterEntry entry : entries.values()) {
            byte[] name = names.get(index++);
            MemorySegment.copy(MemorySegment.ofArray(name), 0, head, metadata + nameAt, name.length);
            at = IrpaFormat.align(at, IrpaFormat.ENTRY_ALIGNMENT);
            setRange(head, at + IrpaFormat.ENTRY_NAME, nameAt, name.length);
            nameAt += name.length;
            switch (entry) {
                case ParameterEntry.Splat splat -> {
                    byte[] pattern = splat.pattern();
                    head.set(ArchiveSource.U64, at, IrpaFormat.SPLAT_ENTRY_SIZE);
                    head.set(ArchiveSource.U32, at + IrpaFormat.ENTRY_TYPE, IrpaFormat.TYPE_SPLAT);
                    head.set(ArchiveSource.U64, at + IrpaFormat.SPLAT_LENGTH, splat.length());
                    MemorySegment.copy(
                            MemorySegment.ofArray(pattern), 0, head, at + IrpaFormat.SPLAT_PATTERN, pattern.length);
                    head.set(ValueLayout.JAVA_BYTE, at + IrpaFormat.SPLAT_PATTERN_LENGTH, (byte) pattern.length);
                    at += IrpaFormat.SPLAT_ENTRY_SIZE;
                }
                case ParameterEntry.Stored stored -> {
                    dataAt = IrpaFormat.align(dataAt, IrpaFormat.DATA_ALIGNMENT);
                    head.set(ArchiveSource.U64, at, IrpaFormat.DATA_ENTRY_SIZE);
                    head.set(ArchiveSource.U32, at + IrpaFormat.ENTRY_TYPE, IrpaFormat.TYPE_DATA);
                    head.set(ArchiveSource.U64, at + IrpaFormat.ENTRY_ALIGNMENT_FIELD, IrpaFormat.DATA_ALIGNMENT);
                    setRange(head, at + IrpaFormat.DATA_STORAGE, dataAt, stored.length());
                    dataAt += stored.length();
                    at += IrpaFormat.DATA_ENTRY_SIZE;
                }
            }
        }
        return head;
    }

    private static void setRange(MemorySegment head, long field, long offset, long length) {
        head.set(ArchiveSource.U64, field, offset);
        head.set(ArchiveSource.U64, field + 8, length);
    }

    /** Writes less than 2 GiB, the capacity of a ByteBuffer. */
    private static void write(FileChannel channel, MemorySegment bytes, long at) throws IOException {
        ByteBuffer buffer = bytes.asByteBuffer();
        for (long to = at; buffer.hasRemaining(); ) {
            to += channel.write(buffer, to);
        }
    }
}
