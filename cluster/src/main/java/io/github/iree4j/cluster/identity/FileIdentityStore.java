package io.github.iree4j.cluster.identity;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An {@link IdentityStore} for a node with a configured machine index: a separate file counts the node's sessions.
 *
 * <p>The next session is on disk before it is granted, so a crash at any point skips a session at most. A lock on a
 * second file keeps other processes out while the lease is held; the lease does not end by itself. Two nodes with the
 * same machine index and different files are not kept apart until the nodes meet, and a directory lost or restored from
 * a copy grants sessions again: the volume must follow the index.
 */
public final class FileIdentityStore implements IdentityStore {
    /*
     * The file has a single line and is replaced as a whole: write, force and rename a temporary file, then force the
     * directory. The lock is on a second file, since a lock belongs to a file and the rename replaces the first file.
     * The second file also names the last granted session, so that a first file deleted or replaced by an older copy is
     * noticed.
     */
    private static final Pattern CONTENT =
            Pattern.compile("iree4j-identity 1 cluster=([0-9a-f]{16}) machine=([0-9]{1,3}) session=([0-9]{1,3})\\R");
    private static final Pattern REMEMBERED =
            Pattern.compile(", after session ([0-9]{1,3}) of machine index ([0-9]{1,3}) of ([0-9a-f]{16})");
    private static final int MOST_BYTES = 128;
    private static final int MOST_LOCK_BYTES = 1024;

    /** Files locked by this process. Opening and closing a second channel on a file would release the lock of the first channel. */
    private static final Set<Path> LOCKED = ConcurrentHashMap.newKeySet();

    private final Path file;
    private final long clusterId;
    private final int machine;
    private final Consumer<String> steps;

    /**
     * Creates a store on a file; the file need not exist.
     *
     * @param file the file counting the sessions; the directory exists or can be created
     * @param clusterId the cluster's id; a file of another cluster is rejected
     * @param machine the machine index, 0 to 255
     */
    public FileIdentityStore(Path file, long clusterId, int machine) {
        this(file, clusterId, machine, _ -> {});
    }

    /** Creates a store with a consumer notified before each step; for tests that stop in the middle. */
    FileIdentityStore(Path file, long clusterId, int machine, Consumer<String> steps) {
        if (machine < 0 || machine > Axis.MAXIMUM_MACHINE) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "machine index " + machine + " is not within [0, " + Axis.MAXIMUM_MACHINE + "]");
        }
        this.file = file.toAbsolutePath();
        this.clusterId = clusterId;
        this.machine = machine;
        this.steps = steps;
    }

    @Override
    public IdentityLease acquire(Duration duration) {
        Lock lock = lock();
        try {
            int last = lastSession();
            if (last < lock.remembered()) {
                throw damaged("has session %s, and '%s' session %d: it was deleted, or is an older copy"
                        .formatted(last == 0 ? "none" : last, sibling(".lock"), lock.remembered()));
            }
            int session = last + 1;
            if (session > Axis.MAXIMUM_SESSION) {
                throw Slots.exhausted(machine);
            }
            write(session);
            describe(lock.channel, session);
            return new Held(new NodeIdentity(clusterId, machine, session, incarnation(session)), lock);
        } catch (IOException e) {
            lock.release();
            throw failure("cannot be written: " + e, e);
        } catch (RuntimeException e) {
            lock.release();
            throw e;
        }
    }

    /** Orders the sessions of a machine, and differs between machines. */
    private long incarnation(int session) {
        return (long) session << 8 | machine;
    }

    private Lock lock() {
        Path path = sibling(".lock");
        if (!LOCKED.add(path)) {
            throw held("this process");
        }
        FileChannel channel = null;
        boolean locked = false;
        try {
            Files.createDirectories(directory());
            channel = FileChannel.open(
                    path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
            FileLock lock = channel.tryLock();
            if (lock == null) {
                throw held(holder(channel));
            }
            int remembered = remembered(content(channel));
            describe(channel, remembered);
            locked = true;
            return new Lock(path, channel, lock, remembered);
        } catch (OverlappingFileLockException e) { // by another class loader, or through a link
            throw held("this process");
        } catch (IOException e) {
            throw failure("cannot be locked: " + e, e);
        } finally {
            if (!locked) {
                close(channel);
                LOCKED.remove(path);
            }
        }
    }

    private IreeException held(String holder) {
        return IreeException.of(
                StatusCode.ALREADY_EXISTS,
                "identity file '%s' is in use by another node, %s; give each node a separate file and a different machine index"
                        .formatted(file, holder),
                null,
                new IdentityInUse(file.toString(), holder));
    }

    /** Describes this process as holder, in the locked file, for processes finding the file locked. */
    private static String self() {
        String host = System.getenv("HOSTNAME");
        return "process " + ProcessHandle.current().pid() + (host == null ? "" : " on " + host);
    }

    private static String holder(FileChannel locked) throws IOException {
        String holder = REMEMBERED.matcher(content(locked)).replaceAll("");
        return holder.isBlank() ? "an unknown process" : holder;
    }

    private static String content(FileChannel locked) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(MOST_LOCK_BYTES);
        locked.read(bytes, 0);
        return StandardCharsets.UTF_8.decode(bytes.flip()).toString().replaceAll("\\p{Cntrl}", " ");
    }

    /** Returns the last session granted to a holder of the lock for this machine index; 0 when unknown. */
    private int remembered(String content) {
        Matcher fields = REMEMBERED.matcher(content);
        return fields.find()
                        && Integer.parseInt(fields.group(2)) == machine
                        && Long.parseUnsignedLong(fields.group(3), 16) == clusterId
                ? Integer.parseInt(fields.group(1))
                : 0;
    }

    /** Writes the holder of the lock, and the last granted session. */
    private void describe(FileChannel locked, int session) throws IOException {
        String text = self()
                + (session == 0
                        ? ""
                        : ", after session %d of machine index %d of %016x".formatted(session, machine, clusterId));
        ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
        int written = locked.write(bytes, 0);
        locked.truncate(written);
    }

    private int lastSession() throws IOException {
        String content;
        try {
            if (Files.size(file) > MOST_BYTES) {
                throw damaged("has " + Files.size(file) + " bytes, more than " + MOST_BYTES);
            }
            content = Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (NoSuchFileException e) {
            return 0;
        }
        Matcher fields = CONTENT.matcher(content);
        if (!fields.matches()) {
            throw damaged("is not one whole line that begins with 'iree4j-identity 1'");
        }
        long ofCluster = Long.parseUnsignedLong(fields.group(1), 16);
        if (ofCluster != clusterId || Integer.parseInt(fields.group(2)) != machine) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "identity file '%s' belongs to machine index %s of cluster %s, not to %d of %016x; use another file"
                            .formatted(file, fields.group(2), fields.group(1), machine, clusterId));
        }
        int session = Integer.parseInt(fields.group(3));
        if (session < 1 || session > Axis.MAXIMUM_SESSION) {
            throw damaged("has session " + session + ", not within [1, " + Axis.MAXIMUM_SESSION + "]");
        }
        return session;
    }

    private IreeException damaged(String how) {
        return IreeException.of(
                StatusCode.DATA_LOSS,
                "identity file '%s' %s; restore it, or take a machine index that was never used: which sessions of index %d were used is unknown"
                        .formatted(file, how, machine));
    }

    private void write(int session) throws IOException {
        String content = String.format(
                Locale.ROOT, "iree4j-identity 1 cluster=%016x machine=%d session=%d\n", clusterId, machine, session);
        Path next = sibling(".next");
        steps.accept("write");
        try (FileChannel channel = FileChannel.open(
                next, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            ByteBuffer bytes = ByteBuffer.wrap(content.getBytes(StandardCharsets.US_ASCII));
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            steps.accept("force");
            channel.force(true);
        }
        steps.accept("rename");
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        steps.accept("force the directory");
        try (FileChannel directory = FileChannel.open(directory(), StandardOpenOption.READ)) {
            directory.force(true);
        }
        steps.accept("grant");
    }

    private Path directory() {
        return file.resolveSibling(".").normalize();
    }

    private Path sibling(String suffix) {
        return file.resolveSibling(file.getFileName() + suffix);
    }

    private IreeException failure(String how, IOException cause) {
        return IreeException.of(StatusCode.UNAVAILABLE, "identity file '" + file + "' " + how, cause);
    }

    private static void close(@Nullable FileChannel channel) {
        if (channel != null) {
            try {
                channel.close();
            } catch (IOException e) {
                // Nothing was written through the channel.
            }
        }
    }

    /** The lock of a lease. */
    private record Lock(Path path, FileChannel channel, FileLock lock, int remembered) {
        boolean isHeld() {
            return lock.isValid();
        }

        void release() {
            close(channel);
            LOCKED.remove(path);
        }
    }

    /** A lease. */
    private final class Held implements IdentityLease {
        private final NodeIdentity identity;
        private final Lock lock;
        private final AtomicBoolean released = new AtomicBoolean();

        Held(NodeIdentity identity, Lock lock) {
            this.identity = identity;
            this.lock = lock;
        }

        @Override
        public NodeIdentity identity() {
            return identity;
        }

        @Override
        public void renew() {
            try {
                if (lock.isHeld() && lastSession() == identity.session()) {
                    return;
                }
            } catch (IOException e) {
                throw failure("cannot be read: " + e, e);
            }
            throw IreeException.of(
                    StatusCode.ABORTED,
                    "identity file '" + file + "' no longer holds " + identity + ", or its lock is gone");
        }

        @Override
        public void release() {
            if (released.compareAndSet(false, true)) {
                lock.release();
            }
        }
    }
}
