package io.github.iree4j.cluster.transport;

import static io.github.iree4j.cluster.transport.GrpcTransportTests.HOST;
import static io.github.iree4j.cluster.transport.GrpcTransportTests.identity;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.remote.PeerStream;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.assertj.core.api.Assertions;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Admission of nodes where certificates are required. */
class TlsTransportTests {

    private static final TransportOptions PLAIN = TransportOptions.of(GrpcTransportTests.LOOPBACK, 0);
    private static TransportOptions near;
    private static TransportOptions elsewhere;
    private static TransportOptions forged;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final Ends one = new Ends();
    private final Ends two = new Ends();
    private final List<GrpcTransport> opened = new ArrayList<>();

    @BeforeAll
    static void issue(@TempDir Path directory) throws IOException {
        TestCertificates authority = new TestCertificates(directory);
        near = PLAIN.withTls(TestCertificates.tls(authority.issue("near", "ip:127.0.0.1,dns:localhost")));
        elsewhere = PLAIN.withTls(TestCertificates.tls(authority.issue("elsewhere", "dns:elsewhere.example")));
        TestCertificates other = new TestCertificates(Files.createDirectory(directory.resolve("other")));
        forged = PLAIN.withTls(TestCertificates.tls(other.issue("near", "ip:127.0.0.1")));
    }

    @AfterEach
    void close() {
        for (GrpcTransport each : opened) {
            each.close();
        }
    }

    private void connect(TransportOptions dialer, TransportOptions listener) {
        GrpcTransport from = new GrpcTransport(dialer, one);
        opened.add(from);
        GrpcTransport to = new GrpcTransport(listener, two);
        opened.add(to);
        from.listen(identity(1), HOST);
        from.dial(to.listen(identity(2), HOST));
    }

    private IreeException refusal() throws InterruptedException {
        IreeException refusal = Ends.take(one.unreachable);
        assertThat(two.accepted).isEmpty();
        assertThat(one.dialed).isEmpty();
        return refusal;
    }

    @Test
    void nodesOfTheSameAuthorityConnect() throws InterruptedException {
        connect(near, near);
        Ends.take(one.dialed);
        Ends.take(two.accepted);
    }

    @Test
    void aCertificateOfAnotherAuthorityIsRefused() throws InterruptedException {
        connect(forged, near);
        refusal();
    }

    @Test
    void aDialerWithACertificateOfAnotherHostIsRefused() throws InterruptedException {
        connect(elsewhere, near);
        IreeException refusal = refusal();
        assertThat(refusal.code()).isEqualTo(StatusCode.PERMISSION_DENIED);
        assertThat(refusal).hasMessageContaining("elsewhere.example");
    }

    @Test
    void aListenerWithACertificateOfAnotherHostIsRefused() throws InterruptedException {
        connect(near, elsewhere);
        assertThat(refusal())
                .hasMessageContaining("127.0.0.1 found") // No subject alternative names matching IP address
                .extracting(Throwable::getMessage, Assertions.as(InstanceOfAssertFactories.STRING))
                .hasLineCount(1);
    }

    @Test
    void plainTextMeetsNoTls() throws InterruptedException {
        connect(PLAIN, near);
        refusal();
    }

    /** As during a replacement of certificates one by one. */
    @Test
    void aConnectionContinuesOnceTheDialerHasItsCertificateAgain() throws Exception {
        SwitchedKeys keys = new SwitchedKeys(near);
        connect(near.withTls(new TransportOptions.Tls(List.of(keys), tls(near).authorities())), near);
        Ends.End dialed = Ends.take(one.dialed);
        Ends.End accepted = Ends.take(two.accepted);
        CountDownLatch greeted = new CountDownLatch(1);
        accepted.check = (_, _) -> greeted.countDown();
        dialed.send(PeerStream.CONTROL, ByteBuffer.wrap(new byte[1]), NOTHING);
        greeted.await();
        keys.use(elsewhere);
        opened.getFirst().doubt(dialed.peer, IreeException.of(StatusCode.UNAVAILABLE, "doubted"));
        keys.awaitUses(2);
        keys.use(near);
        CountDownLatch heard = new CountDownLatch(1);
        accepted.check = (_, _) -> heard.countDown();
        dialed.send(PeerStream.QUEUE, ByteBuffer.wrap(new byte[1]), NOTHING);
        assertThat(heard.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(dialed.closed).isEmpty();
    }

    private static TransportOptions.Tls tls(TransportOptions options) {
        return Objects.requireNonNull(options.tls());
    }

    /** The key of a client, replaced while the client runs. */
    private static final class SwitchedKeys extends X509ExtendedKeyManager {
        private X509ExtendedKeyManager present; // guarded by this
        private int uses; // since the replacement

        SwitchedKeys(TransportOptions first) {
            use(first);
        }

        synchronized void use(TransportOptions of) {
            present = (X509ExtendedKeyManager) tls(of).keys().getFirst();
            uses = 0;
        }

        synchronized void awaitUses(int count) throws InterruptedException {
            long deadline = System.nanoTime() + 30_000_000_000L;
            while (uses < count) {
                long left = deadline - System.nanoTime();
                assertThat(left).as("time for another attempt").isPositive();
                TimeUnit.NANOSECONDS.timedWait(this, left);
            }
        }

        @Override
        public synchronized String chooseEngineClientAlias(String[] types, Principal[] issuers, SSLEngine engine) {
            uses++;
            notifyAll();
            return present.chooseEngineClientAlias(types, issuers, engine);
        }

        @Override
        public synchronized String chooseEngineServerAlias(String type, Principal[] issuers, SSLEngine engine) {
            return present.chooseEngineServerAlias(type, issuers, engine);
        }

        @Override
        public synchronized String chooseClientAlias(String[] types, Principal[] issuers, Socket socket) {
            return present.chooseClientAlias(types, issuers, socket);
        }

        @Override
        public synchronized String chooseServerAlias(String type, Principal[] issuers, Socket socket) {
            return present.chooseServerAlias(type, issuers, socket);
        }

        @Override
        public synchronized String[] getClientAliases(String type, Principal[] issuers) {
            return present.getClientAliases(type, issuers);
        }

        @Override
        public synchronized String[] getServerAliases(String type, Principal[] issuers) {
            return present.getServerAliases(type, issuers);
        }

        @Override
        public synchronized X509Certificate[] getCertificateChain(String alias) {
            return present.getCertificateChain(alias);
        }

        @Override
        public synchronized PrivateKey getPrivateKey(String alias) {
            return present.getPrivateKey(alias);
        }
    }

    @Test
    void namesMatchAsInBrowsers() {
        assertThat(CertificateNames.matches("Node1.example", "node1.EXAMPLE")).isTrue();
        assertThat(CertificateNames.matches("*.example.org", "a.example.org")).isTrue();
        assertThat(CertificateNames.matches("*.example.org", "a.b.example.org")).isFalse();
        assertThat(CertificateNames.matches("*.org", "example.org")).isFalse();
        assertThat(CertificateNames.matches("*", "example")).isFalse();
        assertThat(CertificateNames.matches("10.0.0.1", "10.0.0.1")).isTrue();
        assertThat(CertificateNames.matches("::1", "0:0:0:0:0:0:0:1")).isTrue();
        assertThat(CertificateNames.matches("10.0.0.1", "10.0.0.10")).isFalse();
        assertThat(CertificateNames.matches("999.0.0.1", "999.0.0.1")).isFalse();
    }
}
