//! A store in a bucket of S3, or of what speaks its language: where it is and who asks, as the agent is told it.

use crate::error::FleetError;
use datafusion::object_store::ObjectStore;
use datafusion::object_store::path::Path as Key;
use datafusion::object_store::prefix::PrefixStore;
use object_store::aws::AmazonS3Builder;
use object_store::{Certificate, ClientOptions};
use std::path::Path;
use std::sync::Arc;

/// The store at `s3://BUCKET/PREFIX`; `env` reads a variable of the environment.
///
/// # Errors
/// What is missing or cannot be used. Nothing is asked of the store.
pub fn open(url: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<Arc<dyn ObjectStore>, FleetError> {
    let rest = url.strip_prefix("s3://").ok_or_else(|| FleetError::NoStore(url.to_owned()))?;
    let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    if bucket.is_empty() {
        return Err(FleetError::NoStore(url.to_owned()));
    }
    let told = |name: &str| env(name).filter(|value| !value.is_empty());
    let key = |name: &str| {
        told(name)
            .ok_or_else(|| FleetError::Ask(format!("{name} is not set; s3:// needs the keys of the store")))
    };
    let region = told("AWS_REGION").or_else(|| told("AWS_DEFAULT_REGION"));
    let endpoint = told("AWS_ENDPOINT_URL_S3").or_else(|| told("AWS_ENDPOINT_URL"));
    let plain = endpoint.as_ref().is_some_and(|endpoint| endpoint.starts_with("http://"));
    let mut client = ClientOptions::new().with_allow_http(plain);
    if let Some(bundle) = told("AWS_CA_BUNDLE") {
        let at = Path::new(&bundle);
        let pem = std::fs::read(at).map_err(FleetError::io("read the certificates in", at))?;
        let trusted = Certificate::from_pem_bundle(&pem).map_err(FleetError::store("trust", &bundle))?;
        client = trusted.into_iter().fold(client, ClientOptions::with_root_certificate);
    }
    // The bucket is named in the path of the address, as the agent names it.
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(bucket)
        .with_region(region.unwrap_or_else(|| "us-east-1".to_owned()))
        .with_access_key_id(key("AWS_ACCESS_KEY_ID")?)
        .with_secret_access_key(key("AWS_SECRET_ACCESS_KEY")?)
        .with_virtual_hosted_style_request(false)
        .with_client_options(client);
    if let Some(token) = told("AWS_SESSION_TOKEN") {
        builder = builder.with_token(token);
    }
    if let Some(endpoint) = endpoint {
        builder = builder.with_endpoint(endpoint.trim_end_matches('/'));
    }
    let store = builder.build().map_err(FleetError::store("open", url))?;
    let prefix =
        Key::parse(prefix.trim_matches('/')).map_err(|e| FleetError::store("open", url)(e.into()))?;
    Ok(match prefix.as_ref() {
        "" => Arc::new(store),
        _ => Arc::new(PrefixStore::new(store, prefix)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_and_keys_never_are() {
        let env = |name: &str| match name {
            "AWS_ACCESS_KEY_ID" => Some("id".to_owned()),
            "AWS_SECRET_ACCESS_KEY" => Some("geheim".to_owned()),
            "AWS_ENDPOINT_URL" => Some("http://127.0.0.1:1/".to_owned()),
            _ => None,
        };
        let store = open("s3://zwhy/a/b/", &env).unwrap();
        assert!(!format!("{store:?}").contains("geheim"));
        assert!(open("s3://zwhy", &env).is_ok());
        for odd in ["s3://", "s3:///x", "file:///x", "s3://zwhy/a/../b"] {
            assert!(open(odd, &env).is_err(), "{odd}");
        }
        let error = open("s3://zwhy", &|_| None).unwrap_err().to_string();
        assert!(error.contains("AWS_ACCESS_KEY_ID"), "{error}");
    }
}
