package io.github.iree4j.nativeaccess;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.lifetime.UseGuard;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;

/** An open file for transfers at any offset by a {@link FileRing}. Safe from any thread. */
public final class OpenFile extends Resource {
    /** Access: reading. */
    public static final int READ = 1;

    /** Access: writing. */
    public static final int WRITE = 2;

    private final String path;
    private final int descriptor;
    private final UseGuard guard;

    private OpenFile(String path, int descriptor) {
        this.path = path;
        this.descriptor = descriptor;
        this.guard = UseGuard.of(this::describe, () -> Shim.eventClose(descriptor));
    }

    /**
     * Opens an existing regular file or block device.
     *
     * @param path the path
     * @param access {@link #READ}, {@link #WRITE} or both
     * @return the file; the caller closes it
     * @throws IreeException NOT_FOUND; PERMISSION_DENIED; INVALID_ARGUMENT for any other kind of file;
     *     RESOURCE_EXHAUSTED without descriptors; UNAVAILABLE without the native library
     */
    public static OpenFile open(String path, int access) {
        byte[] bytes = path.getBytes(StandardCharsets.UTF_8);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
            int descriptor = EventDescriptor.open(
                    (out, error) -> Shim.fileOpen(text.address(), bytes.length, access, out, error));
            return new OpenFile(path, descriptor);
        }
    }

    /**
     * Returns the length.
     *
     * @return the length in bytes at the time of the call
     * @throws IreeException FAILED_PRECONDITION when closed
     */
    public long length() {
        NativeError error = new NativeError();
        guard.enter();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            int status = Shim.fileLength(descriptor, out.address(), error.address());
            if (status != 0) {
                throw error.toException(status);
            }
            return out.get(ValueLayout.JAVA_LONG, 0);
        } finally {
            guard.exit();
            Reference.reachabilityFence(error);
        }
    }

    /** The descriptor, valid while a reference is held. */
    int number() {
        return descriptor;
    }

    @Override
    protected String describe() {
        return "file '" + path + "'";
    }

    @Override
    protected void destroy() {
        guard.close();
    }
}
