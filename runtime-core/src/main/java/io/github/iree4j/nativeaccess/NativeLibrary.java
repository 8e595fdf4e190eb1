package io.github.iree4j.nativeaccess;

import io.github.iree4j.status.FileKind;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether native code is available, and if not, why. The library is searched once, on first use:
 *
 * <ol>
 *   <li>the file or directory named by the system property {@value #LIBRARY_PATH} or else the environment variable
 *       {@value #LIBRARY_PATH_VARIABLE}; if either is set, nothing else is tried. A file that differs from a checksum
 *       beside it is not loaded;
 *   <li>the resource {@code META-INF/native/<platform>/libiree4j_shim.so}, or {@code iree4j_shim.dll} on Windows and
 *       {@code libiree4j_shim.dylib} on macOS (in the jar {@code iree4j-native-shim}), copied to the directory named by the system property {@value NativeExtraction#EXTRACT_DIR}, or else to the
 *       user's cache directory, or else to the temporary directory.
 * </ol>
 *
 * <p>All failed attempts are reported together. Nothing is ever downloaded.
 */
public final class NativeLibrary {
    /** System property for the library's file or directory. */
    public static final String LIBRARY_PATH = "iree.native.library-path";

    /** Environment variable with the same meaning. */
    public static final String LIBRARY_PATH_VARIABLE = "IREE4J_NATIVE_LIBRARY_PATH";

    /** The file's name on this platform: {@code libiree4j_shim.so}, {@code iree4j_shim.dll} on Windows, {@code libiree4j_shim.dylib} on macOS. */
    static final String FILE_NAME = NativePlatform.fileName(NativePlatform.name());

    private static final Logger LOG = LoggerFactory.getLogger(NativeLibrary.class);

    private static @Nullable String given; // guarded by the class
    private static @Nullable String givenCopies; // guarded by the class: the directory for copies of the resource
    private static boolean searched; // guarded by the class
    // guarded by the class: the name that led to the library; null for the resource
    private static @Nullable String foundBy;

    private NativeLibrary() {}

    /**
     * Names the library, in place of the system property and the environment variable. Property and variable are then
     * not read.
     *
     * @param path the library's file or directory
     * @throws IreeException FAILED_PRECONDITION when the library was searched already, under another name
     */
    public static synchronized void use(String path) {
        if (searched && !path.equals(foundBy)) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "the native library of this process was already searched, %s; name '%s' before its first use, with -D%s=%s"
                            .formatted(
                                    foundBy == null ? "in the class path" : "at '" + foundBy + "'",
                                    path,
                                    LIBRARY_PATH,
                                    path));
        }
        given = path;
    }

    /**
     * Names the target directory for copies of a library found as a resource, in place of the system property. The
     * property is then not read.
     *
     * @param directory created if missing
     * @throws IreeException FAILED_PRECONDITION when the library was copied already, with another directory
     */
    public static synchronized void copyTo(String directory) {
        if (searched && foundBy == null && !directory.equals(configuredCopies())) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "the native library of this process was already copied, to %s; name '%s' before its first use, with -D%s=%s"
                            .formatted(
                                    configuredCopies() == null
                                            ? "the cache of the user"
                                            : "'" + configuredCopies() + "'",
                                    directory,
                                    NativeExtraction.EXTRACT_DIR,
                                    directory));
        }
        givenCopies = directory;
    }

    private static synchronized @Nullable String configuredCopies() {
        return givenCopies != null ? givenCopies : System.getProperty(NativeExtraction.EXTRACT_DIR);
    }

    private static synchronized @Nullable String configured() {
        searched = true;
        String configured =
                given != null ? given : System.getProperty(LIBRARY_PATH, System.getenv(LIBRARY_PATH_VARIABLE));
        foundBy = configured == null || configured.isBlank() ? null : configured;
        return foundBy;
    }

    /** Loads on first use, once. */
    private static final class Holder {
        static final @Nullable IreeException CAUSE = probe();
    }

    /**
     * Returns why native code is unavailable.
     *
     * @return an exception with status UNAVAILABLE and a message with the remedy, or null if native code is available.
     *     The cause is an {@link IllegalCallerException} when the JVM does not permit native access
     */
    public static @Nullable IreeException unavailabilityCause() {
        return Holder.CAUSE;
    }

    /**
     * Throws unless native code is available.
     *
     * @throws IreeException UNAVAILABLE, with the remedy in the message
     */
    public static void ensureAvailable() {
        IreeException cause = Holder.CAUSE;
        if (cause != null) {
            // A new exception each time, for the caller's stack trace.
            throw IreeException.of(cause.code(), cause.getMessage(), cause);
        }
    }

    /**
     * Binds the native methods of a driver to the library, each time anew: a driver is opened seldom. The methods may be
     * used from then on.
     *
     * @param methods the class declaring the methods, known to the library by name
     * @throws IreeException UNAVAILABLE when native code is unavailable, or the library has other methods
     */
    public static void bind(Class<?> methods) {
        ensureAvailable();
        try (Arena arena = Arena.ofConfined()) {
            String name = methods.getName().replace('.', '/');
            if (Shim.bind(arena.allocateFrom(name).address(), methods) != 0) {
                return;
            }
            throw unfit(methods, "the library has no methods of the class", null);
        } catch (LinkageError e) {
            throw unfit(methods, String.valueOf(e.getMessage()), e);
        }
    }

    /**
     * Returns native memory as a segment: a restricted operation, which this package alone performs, so that native access
     * is needed by one module alone.
     *
     * @param address of memory that is valid while the arena is open
     * @param size in bytes
     * @param arena limits the accesses
     * @return the memory
     */
    @SuppressWarnings("restricted")
    public static MemorySegment memory(long address, long size, Arena arena) {
        return MemorySegment.ofAddress(address).reinterpret(size, arena, null);
    }

    private static IreeException unfit(Class<?> methods, String reason, @Nullable Throwable cause) {
        return IreeException.of(
                StatusCode.UNAVAILABLE,
                "native library does not fit '%s': %s; use iree4j-native-shim, iree4j-runtime-core and drivers of one version"
                        .formatted(methods.getName(), reason),
                cause);
    }

    /**
     * Returns the platform's name in the resource path.
     *
     * @return for example {@code linux-x86_64} or {@code linux-aarch_64-musl}; without a C library it is glibc
     */
    public static String platform() {
        return NativePlatform.name();
    }

    private static @Nullable IreeException probe() {
        try {
            String configured = configured();
            Path loaded = configured == null
                    ? loadCopy(NativeExtraction.find(platform()), false)
                    : loadConfigured(configured);
            checkInterface(loaded);
            LOG.debug("native library loaded from '{}'", loaded);
            return null;
        } catch (IreeException e) {
            return e.code() == StatusCode.UNAVAILABLE ? e : IreeException.of(StatusCode.UNAVAILABLE, e.getMessage(), e);
        } catch (RuntimeException | LinkageError e) {
            return IreeException.of(StatusCode.UNAVAILABLE, "native library cannot be used: " + e, e);
        }
    }

    private static Path loadConfigured(String configured) {
        Path path = Path.of(configured).toAbsolutePath();
        Path file = Files.isDirectory(path) ? path.resolve(FILE_NAME) : path;
        try {
            FileKind.requireRegular("native library", file);
        } catch (IOException e) {
            throw IreeException.of(
                    StatusCode.UNAVAILABLE,
                    "native library '%s' does not exist; correct or remove %s (or %s)"
                            .formatted(file, LIBRARY_PATH, LIBRARY_PATH_VARIABLE),
                    e);
        }
        NativeExtraction.requireChecksumOf(file);
        try {
            load(file);
            return file;
        } catch (UnsatisfiedLinkError e) {
            if (isOfAnotherLoader(e)) {
                return loadCopy(NativeExtraction.of(file), true);
            }
            throw IreeException.of(
                    StatusCode.UNAVAILABLE,
                    "native library '%s' cannot be loaded: %s%s"
                            .formatted(file, e.getMessage(), lettersRemedy(file, systemCharset(), LIBRARY_PATH)),
                    e);
        }
    }

    /** A file serves a single class loader; a second application in this JVM gets a separate copy. */
    private static boolean isOfAnotherLoader(UnsatisfiedLinkError e) {
        return e.getMessage() != null && e.getMessage().contains("already loaded in another classloader");
    }

    private static Path loadCopy(NativeExtraction extraction, boolean isPrivate) {
        List<IreeException> failures = new ArrayList<>();
        for (Path directory : CacheDirectory.candidates(configuredCopies())) {
            try {
                return loadFrom(extraction, directory, isPrivate);
            } catch (IreeException e) {
                if (e.getCause() instanceof IllegalCallerException) {
                    throw e;
                }
                failures.add(e);
            }
        }
        StringBuilder message = new StringBuilder("native library cannot be loaded: ");
        for (int i = 0; i < failures.size(); i++) {
            message.append(i == 0 ? "" : "; then: ").append(failures.get(i).getMessage());
        }
        IreeException failure = IreeException.of(StatusCode.UNAVAILABLE, message.toString());
        failures.forEach(failure::addSuppressed);
        throw failure;
    }

    private static Path loadFrom(NativeExtraction extraction, Path directory, boolean isPrivate) {
        Path file = isPrivate ? extraction.privateCopyIn(directory) : extraction.extractTo(directory);
        try {
            load(file);
            if (isPrivate) {
                NativeExtraction.forget(file);
            }
            return file;
        } catch (UnsatisfiedLinkError e) {
            if (!isPrivate && isOfAnotherLoader(e)) {
                return loadFrom(extraction, directory, true);
            }
            String remedy = CacheDirectory.isOnNoexecVolume(file)
                    ? "; the volume of '%s' seems to be mounted noexec, set %s to a directory on another one"
                            .formatted(directory, NativeExtraction.EXTRACT_DIR)
                    : lettersRemedy(file, systemCharset(), NativeExtraction.EXTRACT_DIR);
            if (isPrivate) {
                NativeExtraction.forget(file);
            }
            throw IreeException.of(StatusCode.UNAVAILABLE, e.getMessage() + remedy, e);
        }
    }

    /** The code page of Windows, in which the JVM names libraries to it; elsewhere the locale's, in which paths are read. */
    private static Charset systemCharset() {
        return Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"), StandardCharsets.UTF_8);
    }

    /** What to do about a path with letters that the system cannot name in its charset; empty for other paths. */
    static String lettersRemedy(Path file, Charset charset, String property) {
        return charset.newEncoder().canEncode(file.toString())
                ? ""
                : "; '%s' has letters that the code page of the system (%s) lacks, set %s to a directory without them"
                        .formatted(file, charset, property);
    }

    @SuppressWarnings("restricted") // the only System.load of the project
    private static void load(Path file) {
        try {
            System.load(file.toString());
        } catch (IllegalCallerException e) {
            throw IreeException.of(StatusCode.UNAVAILABLE, nativeAccessRemedy(NativeLibrary.class.getModule()), e);
        }
    }

    static String nativeAccessRemedy(Module module) {
        String grantee = module.isNamed() ? module.getName() : "ALL-UNNAMED";
        return ("native access is denied to the runtime; start java with --enable-native-access=%s, or put"
                        + " 'Enable-Native-Access: ALL-UNNAMED' into the manifest of the application's jar")
                .formatted(grantee);
    }

    /** Throws if the library does not match these classes. */
    private static void checkInterface(Path file) {
        int version = Shim.abiVersion();
        if (version != Shim.ABI_VERSION) {
            throw IreeException.of(
                    StatusCode.UNAVAILABLE,
                    ("native library '%s' has interface version %d, this runtime needs %d; use iree4j-native-shim and"
                                    + " iree4j-runtime-core of one version")
                            .formatted(file, version, Shim.ABI_VERSION));
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_INT, Shim.LAYOUT.length);
            int count = Shim.layout(out.address(), Shim.LAYOUT.length);
            int[] layout = out.toArray(ValueLayout.JAVA_INT);
            if (count != Shim.LAYOUT.length || !Arrays.equals(layout, Shim.LAYOUT)) {
                throw IreeException.of(
                        StatusCode.UNAVAILABLE,
                        "native library '%s' has memory layout %s, this runtime needs %s"
                                .formatted(file, Arrays.toString(layout), Arrays.toString(Shim.LAYOUT)));
            }
        }
    }
}
