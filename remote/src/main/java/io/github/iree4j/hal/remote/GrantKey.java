package io.github.iree4j.hal.remote;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The key of an allocation, known to the client that allocates and to the node with the memory. The client grants ranges
 * of the memory to third nodes, and the node with the memory recognises the grants: a grant is the HMAC-SHA256 of the
 * range and the incarnation of the third node. A grant is good for that node, as long as the allocation lasts. Safe from
 * any thread.
 */
final class GrantKey {
    /** Bytes of a grant. */
    static final int BYTES = 32;

    /** Bytes of a key. */
    static final int KEY_BYTES = 16;

    private static final String ALGORITHM = "HmacSHA256";
    private static final SecureRandom RANDOM = new SecureRandom();

    private final byte[] key;

    /** Creates a known key. */
    GrantKey(byte[] key) {
        this.key = key;
    }

    /** Returns a new key. */
    static GrantKey create() {
        byte[] key = new byte[KEY_BYTES];
        RANDOM.nextBytes(key);
        return new GrantKey(key);
    }

    /** Returns the bytes, for the node with the memory alone. */
    byte[] bytes() {
        return key;
    }

    /** Returns the grant of a range to a node. */
    byte[] grant(long handle, long offset, long length, long incarnation) {
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

    /** Returns whether a range is granted to a node. Takes the same time for every wrong grant. */
    boolean allows(FetchedRange range, long incarnation) {
        return MessageDigest.isEqual(range.grant(), grant(range.handle(), range.offset(), range.length(), incarnation));
    }
}
