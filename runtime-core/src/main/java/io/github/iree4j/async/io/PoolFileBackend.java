package io.github.iree4j.async.io;

import io.github.iree4j.nativeaccess.EventDescriptor;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.NonReadableChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Transfers made by a thread pool, where io_uring is unavailable. Excess transfers wait, in order. */
final class PoolFileBackend implements FileBackend {
    /*
     * FILE-1: an operation is added to `ended` by the thread running its task, or by the thread that cancels the
     * operation and first removes the task from the pool's queue; the queue hands the task to exactly one of the two
     * threads.
     */
    /** Enough to keep a disk busy. A guess. */
    private static final int THREADS = 4;

    private static final int IDLE_SECONDS = 10;
    private static final Logger LOG = LoggerFactory.getLogger(PoolFileBackend.class);

    private final String reason;
    private final Runnable wakeOwner;
    private final ThreadPoolExecutor threads = new ThreadPoolExecutor(
            THREADS,
            THREADS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            Thread.ofPlatform().daemon().name("iree4j-files-", 1).factory());
    private final Set<FileOperation> live = ConcurrentHashMap.newKeySet();
    private final ConcurrentLinkedQueue<FileOperation> ended = new ConcurrentLinkedQueue<>();
    private final Object lock = new Object();
    private @Nullable IreeException stopCause; // guarded by lock

    PoolFileBackend(String reason, Runnable wakeOwner) {
        this.reason = reason;
        this.wakeOwner = wakeOwner;
        threads.allowCoreThreadTimeOut(true);
    }

    /** A file opened as a Java channel. */
    private record Channel(FileChannel channel, Path path) implements Handle {
        @Override
        public long length() {
            try {
                return channel.size();
            } catch (IOException e) {
                throw IreeException.of(
                        StatusCode.DATA_LOSS, "the length of file '" + path + "' is not known: " + e.getMessage(), e);
            }
        }

        @Override
        public void close() {
            try {
                channel.close();
            } catch (IOException e) {
                LOG.warn("file '{}' was not closed properly", path, e); // the system already has the written bytes
            }
        }
    }

    @Override
    public String describe() {
        return "thread pool (" + reason + ")";
    }

    @Override
    public Handle open(Path path, boolean read, boolean write) {
        Set<StandardOpenOption> options = EnumSet.noneOf(StandardOpenOption.class);
        if (read) {
            options.add(StandardOpenOption.READ);
        }
        if (write) {
            options.add(StandardOpenOption.WRITE);
        }
        try {
            if (Files.exists(path) && !Files.isRegularFile(path)) {
                throw IreeException.of(StatusCode.INVALID_ARGUMENT, "it is not a regular file");
            }
            return new Channel(FileChannel.open(path, options), path);
        } catch (NoSuchFileException e) {
            throw IreeException.of(StatusCode.NOT_FOUND, "it does not exist", e);
        } catch (AccessDeniedException e) {
            throw IreeException.of(StatusCode.PERMISSION_DENIED, "access is denied", e);
        } catch (IOException e) {
            throw IreeException.of(StatusCode.UNAVAILABLE, String.valueOf(e.getMessage()), e);
        }
    }

    @Override
    public void submit(FileOperation operation) {
        Runnable task = () -> run(operation);
        operation.task = task;
        synchronized (lock) {
            if (stopCause != null) {
                throw stopCause.during(operation.describe());
            }
            live.add(operation);
        }
        boolean accepted = false;
        try {
            threads.execute(task);
            accepted = true;
        } finally {
            if (!accepted) {
                live.remove(operation);
            }
        }
    }

    private void run(FileOperation operation) {
        if (operation.stopCause() != null) {
            operation.cancelled();
        } else {
            transfer(operation);
        }
        over(operation);
    }

    private void over(FileOperation operation) {
        ended.add(operation);
        wakeOwner.run();
    }

    private static void transfer(FileOperation operation) {
        try {
            FileChannel channel = ((Channel) operation.file.handle()).channel();
            long length = Math.min(operation.memory.byteSize(), MAX_LENGTH);
            ByteBuffer bytes = operation.memory.asSlice(0, length).asByteBuffer();
            int moved =
                    operation.write ? channel.write(bytes, operation.offset) : channel.read(bytes, operation.offset);
            operation.succeeded(Math.max(0, moved));
        } catch (IOException | RuntimeException e) {
            StatusCode code =
                    e instanceof NonReadableChannelException ? StatusCode.PERMISSION_DENIED : StatusCode.DATA_LOSS;
            operation.failed(code, String.valueOf(e.getMessage()), e);
        } catch (Throwable t) {
            operation.failed(StatusCode.INTERNAL, t.toString(), t);
        }
    }

    @Override
    public void cancel(FileOperation operation) {
        if (operation.task != null && threads.remove(operation.task)) {
            operation.cancelled();
            over(operation);
        }
    }

    @Override
    public @Nullable EventDescriptor readiness() {
        return null;
    }

    @Override
    public boolean retries() {
        return false;
    }

    @Override
    public int poll(int limit) {
        int count = 0;
        for (FileOperation each; count < limit && (each = ended.poll()) != null; count++) {
            live.remove(each);
            each.end();
        }
        return count;
    }

    @Override
    public int pending() {
        return live.size();
    }

    @Override
    public void stop(IreeException cause) {
        synchronized (lock) {
            stopCause = cause;
        }
        for (FileOperation each : live) {
            each.stopBecause(cause);
            cancel(each);
        }
    }

    @Override
    public void close() {
        threads.shutdown();
    }
}
