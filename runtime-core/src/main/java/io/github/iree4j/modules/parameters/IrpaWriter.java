package io.github.iree4j.modules.parameters;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes {@code .irpa} archives, byte for byte as IREE's tools lay them out: header, entry table, names, data aligned to 64 bytes, file
 * padded to 4096. Not thread-safe.
 */
public final class IrpaWriter {
    private final Map<String, ParameterEntry> entries = new LinkedHashMap<>();

    /** Creates a writer without entries. */
    public IrpaWriter() {}

    /**
     * Adds a parameter whose bytes go into the file.
     *
     * @param key its key, not used before
     * @param data the bytes, read when the archive is written
     * @return this
     */
    public IrpaWriter stored(String key, MemorySegment data) {
        return add(new ParameterEntry.Stored(key, data, null));
    }

    /**
     * Adds a parameter of 32-bit floats whose bytes go into the file.
     *
     * @param key its key, not used before
     * @param data the values; copied
     * @return this
     */
    public IrpaWriter stored(String key, float... data) {
        byte[] bytes = new byte[Math.multiplyExact(data.length, Float.BYTES)];
        MemorySegment segment = MemorySegment.ofArray(bytes);
        for (int i = 0; i < data.length; i++) {
            segment.set(IrpaFormat.U32, (long) i * Float.BYTES, Float.floatToRawIntBits(data[i]));
        }
        return stored(key, segment);
    }

    /**
     * Adds a parameter that repeats one pattern and takes no room in the file.
     *
     * @param key its key, not used before
     * @param length its length in bytes, a multiple of the pattern's
     * @param pattern the pattern in memory order: 1, 2, 4, 8 or 16 bytes
     * @return this
     */
    public IrpaWriter splat(String key, long length, byte... pattern) {
        return add(new ParameterEntry.Splat(key, length, pattern));
    }

    private IrpaWriter add(ParameterEntry entry) {
        if (entries.putIfAbsent(entry.key(), entry) != null) {
            throw new IreeException(
                    StatusCode.ALREADY_EXISTS, "parameter '%s' is in the archive already".formatted(entry.key()));
        }
        return this;
    }

    /**
     * Writes the archive, replacing what is there.
     *
     * @param path the file
     * @throws IOException when it cannot be written
     */
    public void write(Path path) throws IOException {
        MemorySegment head = layOut();
        try (FileChannel channel = FileChannel.open(
                path, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
            long storage = head.get(IrpaFormat.U64, IrpaFormat.STORAGE_SEGMENT);
            long end = storage + head.get(IrpaFormat.U64, IrpaFormat.STORAGE_SEGMENT + 8);
            write(channel, head, 0);
            long at = storage;
            for (ParameterEntry entry : entries.values()) {
                if (entry instanceof ParameterEntry.Stored stored) {
                    at = storage + IrpaFormat.align(at - storage, IrpaFormat.DATA_ALIGNMENT);
                    write(channel, stored.data(), at);
                    at += stored.length();
                }
            }
            long size = IrpaFormat.align(end, IrpaFormat.FILE_ALIGNMENT);
            if (channel.size() < size) {
                channel.write(ByteBuffer.allocate(1), size - 1);
            }
        }
    }

    /** Header, entry table and names: everything before the data. */
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
        head.set(IrpaFormat.U32, 0, IrpaFormat.MAGIC);
        head.set(IrpaFormat.U64, IrpaFormat.HEADER_SIZE_FIELD, IrpaFormat.HEADER_SIZE);
        head.set(IrpaFormat.U64, IrpaFormat.ENTRY_COUNT, entries.size());
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
                    head.set(IrpaFormat.U64, at, IrpaFormat.SPLAT_ENTRY_SIZE);
                    head.set(IrpaFormat.U32, at + IrpaFormat.ENTRY_TYPE, IrpaFormat.TYPE_SPLAT);
                    head.set(IrpaFormat.U64, at + IrpaFormat.SPLAT_LENGTH, splat.length());
                    MemorySegment.copy(
                            MemorySegment.ofArray(pattern), 0, head, at + IrpaFormat.SPLAT_PATTERN, pattern.length);
                    head.set(ValueLayout.JAVA_BYTE, at + IrpaFormat.SPLAT_PATTERN_LENGTH, (byte) pattern.length);
                    at += IrpaFormat.SPLAT_ENTRY_SIZE;
                }
                case ParameterEntry.Stored stored -> {
                    dataAt = IrpaFormat.align(dataAt, IrpaFormat.DATA_ALIGNMENT);
                    head.set(IrpaFormat.U64, at, IrpaFormat.DATA_ENTRY_SIZE);
                    head.set(IrpaFormat.U32, at + IrpaFormat.ENTRY_TYPE, IrpaFormat.TYPE_DATA);
                    head.set(IrpaFormat.U64, at + IrpaFormat.ENTRY_ALIGNMENT_FIELD, IrpaFormat.DATA_ALIGNMENT);
                    setRange(head, at + IrpaFormat.DATA_STORAGE, dataAt, stored.length());
                    dataAt += stored.length();
                    at += IrpaFormat.DATA_ENTRY_SIZE;
                }
            }
        }
        return head;
    }

    private static void setRange(MemorySegment head, long field, long offset, long length) {
        head.set(IrpaFormat.U64, field, offset);
        head.set(IrpaFormat.U64, field + 8, length);
    }

    private static void write(FileChannel channel, MemorySegment bytes, long at) throws IOException {
        long chunk = 1 << 30; // a ByteBuffer holds less than 2 GiB
        for (long done = 0; done < bytes.byteSize(); ) {
            long size = Math.min(chunk, bytes.byteSize() - done);
            ByteBuffer buffer = bytes.asSlice(done, size).asByteBuffer();
            while (buffer.hasRemaining()) {
                done += channel.write(buffer, at + done);
            }
        }
    }
}
