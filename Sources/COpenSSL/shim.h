#pragma once
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/obj_mac.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

// The plain SHA contexts are deprecated in favour of EVP, but they are what a hasher with value semantics needs:
// no allocation, no failure, copied by assignment. These wrappers keep the deprecation warning out of Swift.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static inline void hearth_sha256_init(SHA256_CTX *context) { SHA256_Init(context); }

static inline void hearth_sha256_update(SHA256_CTX *context, const void *bytes, size_t count) {
  SHA256_Update(context, bytes, count);
}

/// Writes the 32 bytes of the digest.
static inline void hearth_sha256_final(SHA256_CTX *context, unsigned char *digest) { SHA256_Final(digest, context); }

/// Writes the 20 bytes of the digest.
static inline void hearth_sha1(const void *bytes, size_t count, unsigned char *digest) {
  SHA_CTX context;
  SHA1_Init(&context);
  SHA1_Update(&context, bytes, count);
  SHA1_Final(digest, &context);
}

#pragma GCC diagnostic pop

/// Makes a key of P-256 from an uncompressed point and, for a key pair, its scalar (NULL for a public key).
///
/// In C because the parameter builder keeps the pointers that it is given, names included: Swift's bridged strings
/// would be gone when it reads them. Returns NULL with the reason in the error queue.
static inline EVP_PKEY *hearth_p256_key(const unsigned char *point, size_t count, const BIGNUM *scalar) {
  EVP_PKEY *key = NULL;
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  OSSL_PARAM *parameters = NULL;
  if (context != NULL && builder != NULL &&
      OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) &&
      OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, count) &&
      (scalar == NULL || OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_PRIV_KEY, scalar)) &&
      (parameters = OSSL_PARAM_BLD_to_param(builder)) != NULL && EVP_PKEY_fromdata_init(context) == 1 &&
      EVP_PKEY_fromdata(context, &key, scalar == NULL ? EVP_PKEY_PUBLIC_KEY : EVP_PKEY_KEYPAIR, parameters) != 1) {
    key = NULL;
  }
  OSSL_PARAM_free(parameters);
  OSSL_PARAM_BLD_free(builder);
  EVP_PKEY_CTX_free(context);
  return key;
}
