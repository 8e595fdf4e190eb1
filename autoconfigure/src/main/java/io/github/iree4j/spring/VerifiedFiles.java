package io.github.iree4j.spring;

import io.github.iree4j.modules.parameters.ParameterArchive;
import io.github.iree4j.status.FileKind;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.bytecode.ModuleBytes;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.Resource;
import org.springframework.core.io.ResourceLoader;

/** Opens files of programs and verifies exactly the bytes to be run, which are then private: a file is read only once. */
final class VerifiedFiles {

    private static final int CHUNK = 1 << 20;
    private static final int LONGEST_SIGNATURE = 4096;

    private final ResourceLoader resources;
    private final Integrity integrity;
    private final BiConsumer<Long, Long> progress;

    /** Creates a verifier; {@code progress} receives the bytes checked, and the total. */
    VerifiedFiles(ResourceLoader resources, Integrity integrity, BiConsumer<Long, Long> progress) {
        this.resources = resources;
        this.integrity = integrity;
        this.progress = progress;
    }

    /**
     * Opens a module.
     *
     * @param location of the module, for messages
     * @param sha256 expected checksum; null for none
     * @param signature location of the signature; null for none
     * @param mapped whether to map the module, unless verified
     */
    ModuleBytes module(Path file, String location, @Nullable String sha256, @Nullable String signature, boolean mapped)
            throws IOException {
        integrity.requireSettings(location, sha256, signature);
        if (!integrity.verifies(sha256, signature)) {
            return mapped ? ModuleBytes.map(file) : ModuleBytes.read(file);
        }
        ModuleBytes module = ModuleBytes.read(file);
        try {
            byte[] digest = digest(module.segment());
            if (sha256 != null) {
                compare(location, sha256, HexFormat.of().formatHex(digest));
            }
            if (signature != null || integrity.requiresSignatures()) {
                verify(location, digest, signature == null ? location + Integrity.SUFFIX : signature);
            }
            return module;
        } catch (IOException | RuntimeException e) {
            module.close();
            throw e;
        }
    }

    /** Opens a signed parameter file, in memory; the caller closes the archive. */
    ParameterArchive parameters(Path file, String location) throws IOException {
        try (ModuleBytes bytes = ModuleBytes.readAny(file)) {
            verify(location, digest(bytes.segment()), location + Integrity.SUFFIX);
            return ParameterArchive.of(file, bytes.segment(), bytes);
        }
    }

    private void verify(String location, byte[] digest, String where) throws IOException {
        Resource resource = resources.getResource(where);
        if (resource.isFile() && resource.exists()) {
            FileKind.requireRegular("signature", resource.getFile().toPath());
        }
        byte[] signature;
        try (InputStream in = resource.getInputStream()) {
            signature = in.readNBytes(LONGEST_SIGNATURE);
        } catch (FileNotFoundException e) {
            throw IreeException.of(
                    StatusCode.PERMISSION_DENIED,
                    "'%s' has no signature '%s'".formatted(location, where),
                    e,
                    new IntegrityFault("Sign the file, or set the location of its signature."));
        }
        integrity.verify(location, digest, where, signature);
    }

    private static void compare(String location, String expected, String actual) {
        if (!actual.equals(expected)) {
            throw IreeException.of(
                    StatusCode.DATA_LOSS,
                    "module '%s' has checksum %s, expected %s; the file is a different one, or damaged"
                            .formatted(location, actual, expected),
                    null,
                    new ChecksumMismatch(expected, actual));
        }
    }

    private byte[] digest(MemorySegment bytes) {
        MessageDigest digest;
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
        long size = bytes.byteSize();
        for (long done = 0; done < size; ) {
            long part = Math.min(CHUNK, size - done);
            digest.update(bytes.asSlice(done, part).asByteBuffer());
            done += part;
            progress.accept(done, size);
        }
        return digest.digest();
    }
}
