package io.github.iree4j.cluster.transport;

import io.github.iree4j.cluster.transport.TransportOptions.Tls;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;

/** An authority and certificates of its own, made by the JDK's keytool. */
public final class TestCertificates {

    /** Of all key stores. */
    public static final String PASSWORD = "changeit";

    private final Path directory;
    private final Path authority;

    public TestCertificates(Path directory) {
        this.directory = directory;
        this.authority = directory.resolve("authority.p12");
        keytool(authority, "-genkeypair -keyalg EC -alias authority -dname CN=authority -ext bc:c");
    }

    /**
     * A key store with a key, a certificate for some hosts ("ip:127.0.0.1,dns:localhost"), and the certificate of the
     * authority.
     */
    public Path issue(String name, String hosts) {
        return issue(name, hosts, "-validity 90");
    }

    /** With other dates, as keytool's {@code -startdate} and {@code -validity} say. */
    public Path issue(String name, String hosts, String dates) {
        Path store = directory.resolve(name + ".p12");
        try {
            Files.copy(authority, store);
            keytool(
                    store,
                    "-genkeypair -keyalg EC -signer authority -alias " + name + " -dname CN=" + name + " -ext san="
                            + hosts + " " + dates);
            // Of the authority, nodes have the certificate and not the key.
            KeyStore keys = load(store);
            Certificate certificate = keys.getCertificate("authority");
            keys.deleteEntry("authority");
            keys.setCertificateEntry("authority", certificate);
            try (OutputStream out = Files.newOutputStream(store)) {
                keys.store(out, PASSWORD.toCharArray());
            }
        } catch (IOException | GeneralSecurityException e) {
            throw new AssertionError(e);
        }
        return store;
    }

    /** The certificates shown and trusted by a node with such a store. */
    public static Tls tls(Path store) {
        try {
            KeyStore keys = load(store);
            KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            managers.init(keys, PASSWORD.toCharArray());
            TrustManagerFactory authorities =
                    TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            authorities.init(keys);
            return new Tls(List.of(managers.getKeyManagers()), List.of(authorities.getTrustManagers()));
        } catch (IOException | GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static KeyStore load(Path store) throws IOException, GeneralSecurityException {
        try (InputStream in = Files.newInputStream(store)) {
            KeyStore keys = KeyStore.getInstance("PKCS12");
            keys.load(in, PASSWORD.toCharArray());
            return keys;
        }
    }

    private static void keytool(Path store, String arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(List.of(arguments.split(" ")));
        command.addAll(List.of("-keystore", store.toString(), "-storepass", PASSWORD));
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (process.waitFor() != 0) {
                throw new AssertionError(command + ": " + output);
            }
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
