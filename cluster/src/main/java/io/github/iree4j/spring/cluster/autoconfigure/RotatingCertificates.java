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
 * <p>A node has a single key, which the node shows to all peers: the authorities named by a peer were chosen at the
 * peer's start, and do not matter.
 */
final class RotatingCertificates {

    private static final Logger log = LoggerFactory.getLogger(RotatingCertificates.class);

    private volatile Keys keys;
    private volatile X509ExtendedTrustManager authorities;

    /**
     * The key of the present bundle and of the bundle before. Aliases have the generation in front, so a handshake under way
     * has a chain and a key of one bundle.
     */
    private record Keys(int generation, X509ExtendedKeyManager present, X509ExtendedKeyManager former) {
        private static final char MARK = ':';

        @Nullable
        String mark(@Nullable String alias) {
            return alias == null ? null : generation + String.valueOf(MARK) + alias;
        }

        String @Nullable [] mark(String @Nullable [] aliases) {
            String[] marked = aliases == null ? null : aliases.clone();
            for (int i = 0; marked != null && i < marked.length; i++) {
                marked[i] = generation + String.valueOf(MARK) + marked[i];
            }
            return marked;
        }

        X509ExtendedKeyManager of(String marked) {
            return marked.startsWith(generation + String.valueOf(MARK)) ? present : former;
        }

        static String alias(String marked) {
            return marked.substring(marked.indexOf(MARK) + 1);
        }
    }

    /**
     * Takes the certificates of a bundle.
     *
     * @throws IllegalArgumentException when the bundle has no keys or authorities in the form of X.509
     */
    RotatingCertificates(SslBundle bundle) {
        this.keys = new Keys(0, keyOf(bundle), keyOf(bundle));
        this.authorities = authoritiesOf(bundle);
    }

    /** Takes the certificates of a later bundle, for later handshakes. */
    synchronized void replace(SslBundle bundle) {
        Keys next = new Keys(keys.generation + 1, keyOf(bundle), keys.present);
        authorities = authoritiesOf(bundle);
        keys = next;
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
            Keys now = keys;
            return now.mark(now.present.getClientAliases(type, null));
        }

        @Override
        public @Nullable String chooseClientAlias(
                String[] types, Principal @Nullable [] issuers, @Nullable Socket socket) {
            Keys now = keys;
            return now.mark(now.present.chooseClientAlias(types, null, socket));
        }

        @Override
        public @Nullable String chooseEngineClientAlias(
                String[] types, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
            Keys now = keys;
            return now.mark(now.present.chooseEngineClientAlias(types, null, engine));
        }

        @Override
        public String @Nullable [] getServerAliases(String type, Principal @Nullable [] issuers) {
            Keys now = keys;
            return now.mark(now.present.getServerAliases(type, null));
        }

        @Override
        public @Nullable String chooseServerAlias(
                String type, Principal @Nullable [] issuers, @Nullable Socket socket) {
            Keys now = keys;
            return now.mark(now.present.chooseServerAlias(type, null, socket));
        }

        @Override
        public @Nullable String chooseEngineServerAlias(
                String type, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
            Keys now = keys;
            return now.mark(now.present.chooseEngineServerAlias(type, null, engine));
        }

        @Override
        public X509Certificate @Nullable [] getCertificateChain(String alias) {
            return keys.of(alias).getCertificateChain(Keys.alias(alias));
        }

        @Override
        public @Nullable PrivateKey getPrivateKey(String alias) {
            return keys.of(alias).getPrivateKey(Keys.alias(alias));
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
