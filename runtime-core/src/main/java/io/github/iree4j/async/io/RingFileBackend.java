package io.github.iree4j.async.io;

import io.github.iree4j.nativeaccess.EventDescriptor;
import io.github.iree4j.nativeaccess.FileRing;
import io.github.iree4j.nativeaccess.OpenFile;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Transfers made by the kernel: io_uring. Transfers beyond its capacity wait here, in order. */
final class RingFileBackend implements FileBackend {
    /*
     * An operation moves from `submitted` to `waiting` to `underWay` to `ended`; all but the first are confined to the
     * owner.
     *
     * FILE-1: an operation is in a single collection at a time, and leaves `underWay` only with the kernel's
     * completion, cancelled or not: the completion of a cancel request itself is ignored.
     */
    /** The most transfers given to the kernel at a time. Enough for any disk; more wait at no cost. A guess. */
    static final int CAPACITY = 64;

    /**
     * The size in bytes from which transfers are made by kernel threads even if they would not block: copying from the
     * page cache would keep the owner busy. A guess.
     */
    private static final int PUNTED = 128 << 10;

    private static final Logger LOG = LoggerFactory.getLogger(RingFileBackend.class);

    private final FileRing ring = FileRing.create(CAPACITY);
    private final Object lock = new Object();
    // guarded by lock, like the next four fields
    private final ArrayDeque<FileOperation> submitted = new ArrayDeque<>();
    private final Set<FileOperation> toCancel = new LinkedHashSet<>();
    private @Nullable IreeException stopCause;
    private long tokens;
    private int live;

    // Owner only.
    private final ArrayDeque<FileOperation> waiting = new ArrayDeque<>();
    private final Map<Long, FileOperation> underWay = new HashMap<>();
    private final List<FileOperation> ended = new ArrayList<>();

    /** A file opened by its descriptor. */
    private record Descriptor(OpenFile file) implements Handle {
        @Override
        public long length() {
            return file.length();
        }

        @Override
        public void close() {
            file.close();
        }
    }

    @Override
    public String describe() {
        return "io_uring";
    }

    @Override
    public Handle open(Path path, boolean read, boolean write) {
        return new Descriptor(
                OpenFile.open(path.toString(), (read ? OpenFile.READ : 0) | (write ? OpenFile.WRITE : 0)));
    }

    @Override
    public void submit(FileOperation operation) {
        synchronized (lock) {
            if (stopCause != null) {
                throw stopCause.during(operation.describe());
            }
            operation.token = ++tokens;
            submitted.add(operation);
            live++;
        }
    }

    @Override
    public void cancel(FileOperation operation) {
        synchronized (lock) {
            toCancel.add(operation);
        }
    }

    @Override
    public EventDescriptor readiness() {
        return ring.readiness();
    }

    @Override
    public boolean retries() {
        synchronized (lock) {
            return !toCancel.isEmpty() || !waiting.isEmpty() && underWay.size() < CAPACITY;
        }
    }

    @Override
    public int poll(int limit) {
        ring.poll(limit, this::completed);
        List<FileOperation> cancelled;
        synchronized (lock) {
            waiting.addAll(submitted);
            submitted.clear();
            cancelled = List.copyOf(toCancel);
            toCancel.clear();
        }
        cancelled.forEach(this::cancelNow);
        start();
        return endAll();
    }

    private int endAll() {
        int count = ended.size();
        synchronized (lock) {
            live -= count;
        }
        List<FileOperation> now = List.copyOf(ended);
        ended.clear();
        now.forEach(FileOperation::end);
        return count;
    }

    private void completed(long token, int status, int result) {
        FileOperation operation = underWay.remove(token);
        if (operation == null) {
            return;
        }
        if (status == 0) {
            operation.succeeded(result);
        } else if (status == StatusCode.CANCELLED.number()) {
            operation.cancelled();
        } else {
            operation.failed(StatusCode.of(status), "errno " + result, null);
        }
        ended.add(operation);
    }

    private void cancelNow(FileOperation operation) {
        if (waiting.remove(operation)) {
            operation.cancelled();
            ended.add(operation);
        } else if (underWay.containsKey(operation.token)) {
            ring.prepareCancel(operation.token);
            try {
                if (ring.submit() == 0) { // busy: retry in the next round
                    cancel(operation);
                }
            } catch (IreeException e) {
                LOG.warn("{} cannot be cancelled and ends by itself", operation, e);
            }
        }
    }

    private void start() {
        while (!waiting.isEmpty() && underWay.size() < CAPACITY) {
            List<FileOperation> batch = new ArrayList<>();
            while (!waiting.isEmpty() && underWay.size() + batch.size() < CAPACITY && ring.room() > 0) {
                FileOperation next = waiting.remove();
                batch.add(next);
                prepare(next);
            }
            int taken = 0;
            try {
                taken = ring.submit();
            } finally {
                for (int i = batch.size() - 1; i >= taken; i--) {
                    waiting.addFirst(batch.get(i));
                }
            }
            for (FileOperation operation : batch.subList(0, taken)) {
                underWay.put(operation.token, operation);
            }
            if (taken < batch.size()) {
                return; // the kernel is busy
            }
        }
    }

    private void prepare(FileOperation operation) {
        OpenFile file = ((Descriptor) operation.file.handle()).file();
        MemorySegment memory = operation.memory;
        long length = Math.min(memory.byteSize(), MAX_LENGTH);
        ring.prepare(
                operation.write, operation.token, file, operation.offset, memory.asSlice(0, length), length >= PUNTED);
    }

    @Override
    public int pending() {
        synchronized (lock) {
            return live;
        }
    }

    @Override
    public void stop(IreeException cause) {
        synchronized (lock) {
            stopCause = cause;
            waiting.addAll(submitted);
            submitted.clear();
        }
        for (FileOperation operation; (operation = waiting.poll()) != null; ) {
            operation.stopBecause(cause);
            operation.cancelled();
            ended.add(operation);
        }
        underWay.values().forEach(operation -> {
            operation.stopBecause(cause);
            cancel(operation);
        });
        poll(Integer.MAX_VALUE);
    }

    @Override
    public void close() {
        ring.close();
    }
}
