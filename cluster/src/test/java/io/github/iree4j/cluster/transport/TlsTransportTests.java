package io.github.iree4j.cluster.transport;

import static io.github.iree4j.cluster.transport.GrpcTransportTests.HOST;
import static io.github.iree4j.cluster.transport.GrpcTransportTests.identity;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.Assertions;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which nodes may connect where certificates are required. */
class TlsTransportTests {

    private static final TransportOptions PLAIN = TransportOptions.of(GrpcTransportTests.LOOPBACK, 0);
    private static TransportOptions near;
    private static TransportOptions elsewhere;
    private static TransportOptions forged;

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
    void nodesOfOneAuthorityConnect() throws InterruptedException {
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
    void aDialerWhoseCertificateNamesAnotherHostIsRefused() throws InterruptedException {
        connect(elsewhere, near);
        IreeException refusal = refusal();
        assertThat(refusal.code()).isEqualTo(StatusCode.PERMISSION_DENIED);
        assertThat(refusal).hasMessageContaining("elsewhere.example");
    }

    @Test
    void aListenerWhoseCertificateNamesAnotherHostIsRefused() throws InterruptedException {
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

    @Test
    void namesMatchAsTheyDoInBrowsers() {
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
