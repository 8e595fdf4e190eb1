package io.github.iree4j.hal.remote;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The key of an allocation, known to the client that allocates and to the node with the memory. With the key, the client
 * grants a third node the reading of a range, and the node with the memory recognises the grant: the HMAC-SHA256 of the
 * range and the incarnation of the third node. A grant holds as long as the allocation, and for no other node. Safe from
 * any thread.
 */
final class Grant {
    static final int KEY_BYTES = 16;
    static final int BYTES = 32;

    private static final String ALGORITHM = "HmacSHA256";
    private static final SecureRandom RANDOM = new SecureRandom();

    private final byte[] key;

    private Grant(byte[] key) {
        this.key = key;
    }

    /** A new key. */
    static Grant create() {
        byte[] key = new byte[KEY_BYTES];
        RANDOM.nextBytes(key);
        return new Grant(key);
    }

    /** A key received. */
    static Grant of(byte[] key) {
        return new Grant(key);
    }

    /** The key itself, for the node with the memory alone. */
    byte[] key() {
        return key;
    }

    /** The grant of a range to a node. */
    byte[] of(long handle, long offset, long length, long incarnation) {
        ByteBuffer granted = ByteBuffer.allocate(4 * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        granted.putLong(handle).putLong(offset).putLong(length).putLong(incarnation);
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(key, ALGORITHM));
            return mac.doFinal(granted.array());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e); // every Java runtime has this algorithm
        }
    }

    /** Whether a grant is right. Takes the same time for every wrong grant. */
    boolean allows(byte[] given, long handle, long offset, long length, long incarnation) {
        return MessageDigest.isEqual(given, of(handle, offset, length, incarnation));
    }
}
