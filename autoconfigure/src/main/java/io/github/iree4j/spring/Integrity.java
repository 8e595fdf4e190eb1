package io.github.iree4j.spring;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * The proof required of program files before use, for all programs. Settings of a single program are verified in any
 * case. Immutable.
 *
 * <p>A signature is detached, in a separate file: the Ed25519 signature (RFC 8032) of the 32 bytes of the file's
 * SHA-256, as 64 bytes or in base64.
 */
@NotForApplications
public final class Integrity {

    /** The proof required of files. */
    public enum Requirement {
        /** Nothing. */
        NONE,

        /** Modules have an expected checksum or a signature. */
        CHECKSUM,

        /** Modules and parameter files have a signature. */
        SIGNATURE
    }

    /** Nothing is required. */
    public static final Integrity NONE = new Integrity(Requirement.NONE, null);

    /** Suffix of a file's location for the location of the file's signature. */
    static final String SUFFIX = ".sig";

    private static final String ALGORITHM = "Ed25519";
    private static final int SIGNATURE_BYTES = 64;
    private static final String BEGIN = "-----BEGIN PUBLIC KEY-----";
    private static final String END = "-----END PUBLIC KEY-----";

    private final Requirement required;
    private final @Nullable PublicKey key;

    /**
     * Creates requirements.
     *
     * @param required the required proof
     * @param key verifies signatures; null for none
     * @throws IllegalArgumentException when signatures are required and there is no key
     */
    public Integrity(Requirement required, @Nullable PublicKey key) {
        if (required == Requirement.SIGNATURE && key == null) {
            throw new IllegalArgumentException("signatures are required, and there is no public key to verify them");
        }
        this.required = required;
        this.key = key;
    }

    /**
     * Reads a public key.
     *
     * @param pem an Ed25519 key in PEM, as written by {@code openssl pkey -pubout}
     * @return the key
     * @throws IllegalArgumentException when the text is not such a key
     */
    public static PublicKey key(String pem) {
        int begin = pem.indexOf(BEGIN);
        int end = pem.indexOf(END);
        if (begin < 0 || end < begin) {
            throw new IllegalArgumentException("there is no '%s'".formatted(BEGIN));
        }
        try {
            byte[] encoded = Base64.getMimeDecoder().decode(pem.substring(begin + BEGIN.length(), end));
            return KeyFactory.getInstance(ALGORITHM).generatePublic(new X509EncodedKeySpec(encoded));
        } catch (IllegalArgumentException | GeneralSecurityException e) {
            throw new IllegalArgumentException("it is not an %s key: %s".formatted(ALGORITHM, e.getMessage()), e);
        }
    }

    boolean requiresSignatures() {
        return required == Requirement.SIGNATURE;
    }

    /** Returns whether the bytes of a module with these settings are verified. */
    boolean verifies(@Nullable String sha256, @Nullable String signature) {
        return sha256 != null || signature != null || requiresSignatures();
    }

    /** Fails for a module whose settings do not allow the required verification. */
    void requireSettings(String location, @Nullable String sha256, @Nullable String signature) {
        if (required == Requirement.CHECKSUM && sha256 == null && signature == null) {
            throw IreeException.of(
                    StatusCode.PERMISSION_DENIED,
                    "module '%s' has neither a checksum nor a signature, and 'iree.integrity.require' is 'checksum'"
                            .formatted(location),
                    null,
                    new IntegrityFault("Set its 'sha256' (sha256sum prints it) or 'signature'."));
        }
    }

    /**
     * Verifies a file.
     *
     * @param location of the file
     * @param digest SHA-256 of the bytes to be used
     * @param where location of the signature
     * @param signature contents of the signature file
     * @throws IreeException DATA_LOSS when the signature does not belong to the file
     */
    void verify(String location, byte[] digest, String where, byte[] signature) {
        if (key == null) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "'%s' has signature '%s', and there is no public key to verify it".formatted(location, where),
                    null,
                    new IntegrityFault("Set 'iree.integrity.public-key' to the location of the key in PEM."));
        }
        boolean valid;
        try {
            Signature verifier = Signature.getInstance(ALGORITHM);
            verifier.initVerify(key);
            verifier.update(digest);
            valid = verifier.verify(raw(signature));
        } catch (IllegalArgumentException | GeneralSecurityException e) {
            throw invalid(location, digest, where, e);
        }
        if (!valid) {
            throw invalid(location, digest, where, null);
        }
    }

    private static byte[] raw(byte[] signature) {
        return signature.length == SIGNATURE_BYTES
                ? signature
                : Base64.getMimeDecoder().decode(new String(signature, StandardCharsets.ISO_8859_1).strip());
    }

    private static IreeException invalid(String location, byte[] digest, String where, @Nullable Exception cause) {
        return IreeException.of(
                StatusCode.DATA_LOSS,
                "'%s', with SHA-256 %s, does not have the signature '%s': the file or the signature is a different one or damaged, or signed with another key"
                        .formatted(location, HexFormat.of().formatHex(digest), where),
                cause,
                new IntegrityFault(
                        "Restore the intended file and its signature, or correct 'iree.integrity.public-key'."));
    }
}
