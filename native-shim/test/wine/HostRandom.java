import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.Provider;
import java.security.SecureRandomSpi;
import java.util.Map;

/**
 * Random numbers of the machine below wine, for tests. A Java runtime without jdk.crypto.mscapi takes its seed from the
 * list of network interfaces, and wine 8 lacks a function for that list: the JVM would end.
 */
public final class HostRandom extends Provider {
    /** Creates the provider; the JVM does so, by the security properties. */
    public HostRandom() {
        super("HostRandom", "1", "random numbers from /dev/urandom below wine");
        for (String algorithm : new String[] {"DRBG", "SHA1PRNG"}) {
            putService(new Service(this, "SecureRandom", algorithm, Source.class.getName(), null, Map.of()));
        }
    }

    /** The device. Needs no seed. */
    public static final class Source extends SecureRandomSpi {
        /** Creates the source; the provider does so. */
        public Source() {}

        @Override
        protected void engineSetSeed(byte[] seed) {}

        @Override
        protected void engineNextBytes(byte[] bytes) {
            try (InputStream device = new FileInputStream("Z:\\dev\\urandom")) {
                device.readNBytes(bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        protected byte[] engineGenerateSeed(int length) {
            byte[] bytes = new byte[length];
            engineNextBytes(bytes);
            return bytes;
        }
    }
}
