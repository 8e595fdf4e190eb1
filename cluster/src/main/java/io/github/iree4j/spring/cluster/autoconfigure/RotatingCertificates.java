package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.cluster.transport.TransportOptions;
import java.net.Socket;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.ssl.SslBundle;

/**
 * The certificates of a node, replaced while the node runs: each TLS handshake uses the present certificates. Thread-safe.
 *
 * <p>A node has a single key, which the node shows to all peers: the authorities named by a peer are those of the peer's
 * start, and do not matter.
 */
final class RotatingCertificates {

    private static final Logger log = LoggerFactory.getLogger(RotatingCertificates.class);

    private volatile X509ExtendedKeyManager key;
    private volatile X509ExtendedTrustManager authorities;

    /**
     * Takes the certificates of a bundle.
     *
     * @throws IllegalArgumentException when the bundle has no keys or authorities in the form of X.509
     */
    RotatingCertificates(SslBundle bundle) {
        this.key = keyOf(bundle);
        this.authorities = authoritiesOf(bundle);
    }

    /** Takes the certificates of a later bundle, for later handshakes. */
    void replace(SslBundle bundle) {
        X509ExtendedKeyManager nextKey = keyOf(bundle);
        authorities = authoritiesOf(bundle);
        key = nextKey;
        log.info("the certificates of this node were replaced, for new connections");
    }

    private static X509ExtendedKeyManager keyOf(SslBundle bundle) {
        for (KeyManager each : bundle.getManagers().getKeyManagers()) {
            if (each instanceof X509ExtendedKeyManager known) {
                return known;
            }
        }
        throw new IllegalArgumentException("the SSL bundle has no key");
    }

    private static X509ExtendedTrustManager authoritiesOf(SslBundle bundle) {
        for (TrustManager each : bundle.getManagers().getTrustManagers()) {
            if (each instanceof X509ExtendedTrustManager known) {
                return known;
            }
        }
        throw new IllegalArgumentException("the SSL bundle has no authorities");
    }

    /** Returns the certificates for the transport. */
    TransportOptions.Tls tls() {
        return new TransportOptions.Tls(List.of(new Key()), List.of(new Authorities()));
    }

    private final class Key extends X509ExtendedKeyManager {
        @Override
        public String @Nullable [] getClientAliases(String type, Principal @Nullable [] issuers) {
            return key.getClientAliases(type, null);
        }

        @Override
        public @Nullable String chooseClientAlias(
                String[] types, Principal @Nullable [] issuers, @Nullable Socket socket) {
            return key.chooseClientAlias(types, null, socket);
        }

        @Override
        public @Nullable String chooseEngineClientAlias(
                String[] types, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
            return key.chooseEngineClientAlias(types, null, engine);
        }

        @Override
        public String @Nullable [] getServerAliases(String type, Principal @Nullable [] issuers) {
            return key.getServerAliases(type, null);
        }

        @Override
        public @Nullable String chooseServerAlias(
                String type, Principal @Nullable [] issuers, @Nullable Socket socket) {
            return key.chooseServerAlias(type, null, socket);
        }

        @Override
        public @Nullable String chooseEngineServerAlias(
                String type, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
            return key.chooseEngineServerAlias(type, null, engine);
        }

        @Override
        public X509Certificate @Nullable [] getCertificateChain(String alias) {
            return key.getCertificateChain(alias);
        }

        @Override
        public @Nullable PrivateKey getPrivateKey(String alias) {
            return key.getPrivateKey(alias);
        }
    }

    private final class Authorities extends X509ExtendedTrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
            authorities.checkClientTrusted(chain, type);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
                throws CertificateException {
            authorities.checkClientTrusted(chain, type, socket);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
                throws CertificateException {
            authorities.checkClientTrusted(chain, type, engine);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
            authorities.checkServerTrusted(chain, type);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
                throws CertificateException {
            authorities.checkServerTrusted(chain, type, socket);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
                throws CertificateException {
            authorities.checkServerTrusted(chain, type, engine);
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return authorities.getAcceptedIssuers();
        }
    }
}
